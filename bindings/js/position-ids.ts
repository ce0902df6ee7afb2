// SPDX-License-Identifier: MIT
// Where position ids come from: counted plainly or over a mask, restarted for each packed document, drawn at random for
// training, shifted, or with chunks skipped. The same seed gives the same ids everywhere.

import { PosLabError, unwrap, wrongArgument } from "./errors.js";
import type { AttentionCore } from "./core-interface.js";
import { checkOptions, readCount, readMask } from "./tensors.js";

/** What each policy takes. */
export interface PositionIdOptions {
  /** offset, offset + 1, ... */
  plain: { length: number; offset?: number };
  /**
   * Counted over the tokens that a mask (1 = token, 0 = padding) has: offset + tokens before. Padding gets `padding`
   * (default 0): GPT-2's generate has { padding: 1 }, BLOOM the defaults, RoBERTa { offset: id + 1, padding: id } with
   * its padding id, OPT { offset: 2, padding: 1 }.
   */
  mask: { mask: ArrayLike<number>; offset?: number; padding?: number };
  /** Several documents in one row, each beginning at offset. */
  packed: { lengths: ArrayLike<number>; offset?: number };
  /** A sorted sample of `length` ids below `maximum`, none twice (Ruoss et al. 2023, section 3). */
  randomized: { length: number; maximum: number; seed: number };
  /** Plain ids plus one random number from 0 to `maximum`, the same for the whole row (Kiyono et al. 2021, SHAPE). */
  shift: { length: number; maximum: number; seed: number };
  /**
   * `chunks` (default 2) chunks of nearly equal length; before each but the first a random number of ids is skipped, so
   * that the last id stays below `target` (Zhu et al. 2024, PoSE, section 3.2).
   */
  pose: { length: number; target: number; chunks?: number; seed: number };
}
export type PositionPolicy = keyof PositionIdOptions;

const policies: { [P in PositionPolicy]: (options: PositionIdOptions[P], core: AttentionCore) => number[] } = {
  plain: (options) => {
    checkOptions(options, ["length", "offset"]);
    const offset = readWhole(options.offset ?? 0, "offset");
    return count(readLength(options.length, "length"), offset);
  },
  mask: (options) => {
    checkOptions(options, ["mask", "offset", "padding"]);
    const offset = readWhole(options.offset ?? 0, "offset");
    const padding = readWhole(options.padding ?? 0, "padding");
    let next = offset;
    return Array.from(readMask(options.mask, "mask"), (isToken) => (isToken ? next++ : padding));
  },
  packed: (options) => {
    checkOptions(options, ["lengths", "offset"]);
    const offset = readWhole(options.offset ?? 0, "offset");
    const lengths = Array.from(options.lengths, (length, index) => readLength(length, `lengths[${index}]`));
    readLength(
      lengths.reduce((sum, length) => sum + length, 0),
      "lengths",
    );
    return lengths.flatMap((length) => count(length, offset));
  },
  randomized: (options, core) => {
    checkOptions(options, ["length", "maximum", "seed"]);
    return draw(core, "randomized", options.length, readWhole(options.maximum, "maximum"), options.seed);
  },
  shift: (options, core) => {
    checkOptions(options, ["length", "maximum", "seed"]);
    return draw(core, "shift", options.length, readWhole(options.maximum, "maximum"), options.seed);
  },
  pose: (options, core) => {
    checkOptions(options, ["length", "target", "chunks", "seed"]);
    const length = readLength(options.length, "length");
    const target = readWhole(options.target, "target");
    if (target < length) throw wrongArgument("range", "target", target, `at least the length, ${length},`);
    return draw(core, "pose", length, target, options.seed, readWhole(options.chunks ?? 2, "chunks"));
  },
};

/** Position ids by a policy; the options are the policy's own. */
export function positionIds<P extends PositionPolicy>(
  core: AttentionCore,
  policy: P,
  options: PositionIdOptions[P],
): number[] {
  if (!Object.hasOwn(policies, policy))
    throw new PosLabError(
      "unknownName",
      `policy: "${String(policy)}" is not known; ${Object.keys(policies).join(", ")} are`,
      {
        argument: "policy",
        given: policy,
      },
    );
  return policies[policy](options, core);
}

/** A list of more ids than this is a slip of the finger. */
const kLongest = 2 ** 27;

function readLength(value: number, argument: string): number {
  return readWhole(value, argument, kLongest);
}

/** The generator draws 32 bits at a time, and ids past this are no positions. */
const kLargest = 2 ** 31;

function readWhole(value: number, argument: string, largest = kLargest): number {
  const whole = readCount(value, argument);
  if (whole < 0 || whole > largest)
    throw wrongArgument("range", argument, whole, `a whole number from 0 to ${largest}`);
  return whole;
}

/** By the core, whose generator training draws from as well. */
function draw(
  core: AttentionCore,
  policy: PositionPolicy,
  length: number,
  maximum: number,
  seed: number,
  chunks = 1,
): number[] {
  const wanted = readWhole(seed, "seed", Number.MAX_SAFE_INTEGER);
  return Array.from(unwrap(core.drawPositions({ policy, maximum, chunks }, readLength(length, "length"), wanted)).ids);
}

function count(length: number, start: number): number[] {
  return Array.from({ length }, (_, index) => start + index);
}
