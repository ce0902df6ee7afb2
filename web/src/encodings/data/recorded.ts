// SPDX-License-Identifier: MIT
// What became of an encoding in the race that is recorded with the site: its loss at the trained length, at twice that and
// at the longest test.

import type { Encoding } from "../../engine/poslab.js";
import { lengthPoints } from "../../race/curves.js";
import type { Shown } from "../../race/shown.js";
import { sameEncoding } from "../../schemes/fields.js";
import type { SchemeObject } from "../../state/page-link.js";

export interface Outcome {
  /** the trained length */ length: number;
  seeds: number;
  /** loss at the end of texts of some lengths, a mean over seeds; null where it is not defined */ losses: readonly {
    length: number;
    loss: number | null;
  }[];
}

const asEncoding = (scheme: SchemeObject) => scheme as unknown as Encoding;

/** Whether an experiment has this very encoding. */
export const races = (encodings: readonly Encoding[], scheme: SchemeObject): boolean =>
  encodings.some((encoding) => sameEncoding(encoding, asEncoding(scheme)));

export function outcomeOf({ experiment, runs }: Pick<Shown, "experiment" | "runs">, scheme: SchemeObject): Outcome {
  const index = experiment.encodings.findIndex((encoding) => sameEncoding(encoding, asEncoding(scheme)));
  const { length } = experiment.training;
  const points = lengthPoints(
    runs.filter((run) => run.encoding === index).map((run) => run.byLength),
    "end",
  );
  const tested = [length, 2 * length, Math.max(...experiment.test.lengths)];
  const losses = [...new Set(tested)]
    .filter((wanted) => experiment.test.lengths.includes(wanted))
    .map((wanted) => ({ length: wanted, loss: points.find(({ x }) => x === wanted)?.y ?? null }));
  return { length, seeds: experiment.seeds.length, losses };
}
