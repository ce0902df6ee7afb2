// SPDX-License-Identifier: MIT
// `poslab precision`: from which position on narrow types lose ids and angles, and how wrong cosine and sine become.

import { loadPosLab } from "../js/index.js";
import type { TypePrecision } from "../js/precision.js";
import { borderless } from "./borderless.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { positionFromOptions, positionProblem, type PositionOptionValues } from "./position-options.js";

type Options = PositionOptionValues & { headDim: number; length: number; json?: boolean };

export async function precision(options: Options): Promise<number> {
  const { headDim, length } = options;
  const lab = await loadPosLab();
  const position = positionFromOptions(options);
  try {
    const report = await lab.precision(position, { headDim, length });
    process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${inWords(report.types, length)}\n`);
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(positionProblem(error, options)) : error;
  }
  return exitStatus.done;
}

/** An error of a tenth: cosine and sine say little about the position any more. */
const kUseless = 0.1;

function inWords(types: readonly TypePrecision[], length: number): string {
  const rows = types.map(({ type, firstEqualIds, firstEqualAngles, worstCosine, worstSine, worst }) => {
    const angles = firstEqualAngles.filter((id) => id !== null);
    const useless = worstCosine.filter((error, pair) => Math.max(error, worstSine[pair]!) > kUseless).length;
    return [
      type,
      firstEqualIds === null ? "none" : `from ${firstEqualIds}`,
      angles.length === 0
        ? "none"
        : `from ${angles.reduce((least, id) => Math.min(least, id))} (${angles.length} pairs)`,
      `${worst.error.toPrecision(3)} (pair ${worst.pair}, position ${worst.position})`,
      `${useless} of ${worstCosine.length}`,
    ];
  });
  const heads = [
    "type",
    "equal ids",
    "equal angles",
    "worst error of cos or sin",
    `pairs off by more than ${kUseless}`,
  ];
  return `Positions below ${length}; float32 is how transformers computes, exact angles are in double.\n\n${borderless(heads, rows, ["left", "left", "left", "left", "right"])}`;
}
