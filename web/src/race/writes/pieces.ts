// SPDX-License-Identifier: MIT
// A generated text cut into runs of one colour, with a mark where the trained length ends.

import type { Generated } from "../../engine/poslab.js";

export type ColourBy = "loss" | "position";
export interface WrittenRun {
  text: string;
  /** 0 .. kLevels - 1 */ level: number;
  /** mean surprise of the run, in nats */ loss: number;
  /** the trained length ends before this run */ mark: boolean;
}

export const kLevels = 6;
/** A surprise of this many nats and more has the strongest colour: one in a hundred. */
const kStrongest = 4.6;

export function colourRuns(generated: Generated, trainedLength: number, by: ColourBy): WrittenRun[] {
  const { pieces, losses, promptLength } = generated;
  const runs: WrittenRun[] = [];
  let count = 0;
  pieces.forEach((piece, index) => {
    const loss = losses[index] ?? 0;
    const share = by === "loss" ? loss / kStrongest : index / Math.max(1, pieces.length - 1);
    const level = Math.min(kLevels - 1, Math.max(0, Math.floor(share * kLevels)));
    const mark = promptLength + index === trainedLength;
    const last = runs.at(-1);
    if (last && last.level === level && !mark) {
      last.text += piece;
      last.loss += (loss - last.loss) / (count += 1);
    } else {
      count = 1;
      runs.push({ text: piece, level, loss, mark });
    }
  });
  return runs;
}

/** Mean surprise before and after the end of the trained length; null where there is nothing. */
export function surprise(generated: Generated, trainedLength: number): { before: number | null; after: number | null } {
  const mean = (list: number[]) => (list.length ? list.reduce((sum, value) => sum + value, 0) / list.length : null);
  const losses = Array.from(generated.losses);
  const cut = Math.max(0, trainedLength - generated.promptLength);
  return { before: mean(losses.slice(0, cut)), after: mean(losses.slice(cut)) };
}
