// SPDX-License-Identifier: MIT
// The sentence that says what a number box takes.

import type { Dictionary } from "../language/english.js";
import type { NumberLimits } from "../state/page-link.js";

export function allowedNumber(
  { kind, minimum, maximum, besides }: NumberLimits,
  words: Dictionary,
  setting: (value: number) => string,
): string {
  const { range, rangeOr, whole, number } = words.setup;
  const between =
    besides === undefined
      ? range(setting(minimum), setting(maximum))
      : rangeOr(setting(besides), setting(minimum), setting(maximum));
  return [between, kind === "integer" ? whole : number].join(words.punctuation.sentence);
}
