// SPDX-License-Identifier: MIT
// Where position ids come from: counted plainly or over a mask, restarted for each packed document, drawn at random for
// training, shifted, or with chunks skipped. The same seed gives the same ids everywhere.

import { PosLabError, wrongArgument } from "./errors.js";
import { randomBelow } from "./random.js";
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

const policies: { [P in PositionPolicy]: (options: PositionIdOptions[P]) => number[] } = {
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
  randomized: (options) => {
    checkOptions(options, ["length", "maximum", "seed"]);
    const length = readLength(options.length, "length");
    const maximum = readWhole(options.maximum, "maximum");
    if (maximum < length) throw wrongArgument("range", "maximum", maximum, `at least the length, ${length},`);
    return sample(length, maximum, draw(options.seed));
  },
  shift: (options) => {
    checkOptions(options, ["length", "maximum", "seed"]);
    const length = readLength(options.length, "length");
    return count(length, draw(options.seed)(readWhole(options.maximum, "maximum") + 1));
  },
  pose: (options) => {
    checkOptions(options, ["length", "target", "chunks", "seed"]);
    const length = readLength(options.length, "length");
    const target = readWhole(options.target, "target");
    const chunks = readWhole(options.chunks ?? 2, "chunks");
    if (target < length) throw wrongArgument("range", "target", target, `at least the length, ${length},`);
    if (chunks < 1 || chunks > Math.max(1, length))
      throw wrongArgument("range", "chunks", chunks, `from 1 to the length, ${length},`);
    const below = draw(options.seed);
    const skips: number[] = [0];
    for (let chunk = 1; chunk < chunks; chunk += 1)
      skips.push(skips[chunk - 1]! + below(target - length - skips[chunk - 1]! + 1));
    return Array.from({ length }, (_, index) => index + skips[Math.floor((index * chunks) / length)]!);
  },
};

/** Position ids by a policy; the options are the policy's own. */
export function positionIds<P extends PositionPolicy>(policy: P, options: PositionIdOptions[P]): number[] {
  if (!Object.hasOwn(policies, policy))
    throw new PosLabError(
      "unknownName",
      `policy: "${String(policy)}" is not known; ${Object.keys(policies).join(", ")} are`,
      {
        argument: "policy",
        given: policy,
      },
    );
  return policies[policy](options);
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

function draw(seed: number): (bound: number) => number {
  return randomBelow(readWhole(seed, "seed", Number.MAX_SAFE_INTEGER));
}

function count(length: number, start: number): number[] {
  return Array.from({ length }, (_, index) => start + index);
}

/** Floyd's sample: every set of `length` numbers below `maximum` is as likely as any other. */
function sample(length: number, maximum: number, below: (bound: number) => number): number[] {
  const chosen = new Set<number>();
  for (let last = maximum - length; last < maximum; last += 1) {
    const drawn = below(last + 1);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  return [...chosen].sort((one, two) => one - two);
}
