// SPDX-License-Identifier: MIT
// When a case fails: what do its expected values match? Implementations differ by a handful of conventions, and saying
// which one saves an afternoon. Every single change is tried, and, where none fits, two at a time.

import type { Case } from "../check-case.js";
import { compare } from "../check-compare.js";
import { compute } from "../check-operations.js";
import { PosLabError } from "../errors.js";
import type { PosLab } from "../poslab.js";
import { callConventions } from "./calls.js";
import type { Convention } from "./change.js";
import { positionConventions } from "./positions.js";
import { schemeConventions } from "./schemes.js";

/** Labels that hold together: one, or two at a time. */
export type Match = readonly string[];

/** Pairs are tried up to so many, and not at all for calls of so many numbers. */
const kMostPairs = 1500;
const kLargestForPairs = 2 ** 16;

/** The conventions that the expected values of a failing case match, the simplest first. */
export function matchingConventions(item: Case, lab: PosLab): Match[] {
  const { op } = item.description;
  if (op === "reject" || op === "config" || op === "training") return [];
  const single = conventionsOf(item, lab);
  const matches = single.filter((convention) => isMatch(convention, lab)).map(({ label }) => [label]);
  const size = [...item.tensors.values()].reduce((total, { data }) => total + data.length, 0);
  return matches.length > 0 || size > kLargestForPairs ? matches : matchingPairs(single, lab);
}

function conventionsOf(item: Case, lab: PosLab): Convention[] {
  try {
    return [...schemeConventions(item, lab), ...positionConventions(item), ...callConventions(item)];
  } catch (error) {
    if (!(error instanceof PosLabError)) throw error;
    return []; // a first change that makes no scheme
  }
}

function matchingPairs(single: readonly Convention[], lab: PosLab): Match[] {
  const tried = new Set<string>();
  const matches: Match[] = [];
  for (const { label: first, item, results } of single) {
    if (results) continue;
    for (const second of conventionsOf(item, lab)) {
      const key = [first, second.label].sort().join("\n");
      if (first === second.label || tried.has(key)) continue;
      if (tried.size >= kMostPairs) return matches;
      tried.add(key);
      if (isMatch(second, lab)) matches.push([first, second.label]);
    }
  }
  return matches;
}

function isMatch({ item, results }: Convention, lab: PosLab): boolean {
  const { op } = item.description;
  if (op === "reject") return false;
  try {
    return compare(item, results ? results(lab) : compute[op](item, lab)).passed;
  } catch (error) {
    if (!(error instanceof PosLabError)) throw error;
    return false; // a convention that this call cannot have
  }
}

/** How many are named in a message. */
const kMostNamed = 3;

/** "matches layout: interleaved, or rotations by minus the position" */
export function hint(matches: readonly Match[]): string {
  if (matches.length === 0) return "";
  const named = matches.slice(0, kMostNamed).map((labels) => labels.join(" together with "));
  return `matches ${named.join(", or ")}`;
}
