// SPDX-License-Identifier: MIT
// Choices that cannot work, found before anything is started and said in words that name the way out. The core checks
// everything again; what only it knows comes back as its own message.

import type { CorpusInfo } from "../engine/corpora.js";
import type { Values } from "../state/fields.js";
import { ownText } from "../state/fields.js";
import { runBytes } from "./estimate.js";
import type { OwnText } from "./setup/own-text.js";

export type ProblemPlace = keyof Values;
export type Problem = { place: ProblemPlace } & (
  | { kind: "noEncodings" | "ownEmpty" }
  | { kind: "headsDivide"; dim: number; heads: number }
  | { kind: "headEven"; size: number }
  | { kind: "rotaryTooWide"; rotary: number; size: number }
  | { kind: "slopesCount"; given: number; heads: number }
  | { kind: "copyLength"; length: number }
  | { kind: "distanceLength"; distance: number; length: number }
  | { kind: "positionLength"; position: number; length: number }
  | { kind: "positionsLeast"; length: number }
  | { kind: "chunksMost"; length: number }
  | { kind: "tableShort"; rows: number; largest: number }
  | { kind: "ownTooShort"; needed: number; given: number }
  | { kind: "missingCorpus"; name: string }
  | { kind: "tooLarge"; gigabytes: number }
);

/** What is known of the chosen text; null while nothing is. */
export interface TextFacts {
  symbols: number;
  distinct: number;
}

export function factsOf(
  { task, corpus, unit }: Values,
  own: OwnText | null,
  corpora: readonly CorpusInfo[] | null,
): TextFacts | null {
  if (task !== "text") return null;
  if (corpus === ownText) return (unit === "bytes" ? own?.asBytes : own?.characters) ?? null;
  const info = corpora?.find((entry) => entry.id === corpus);
  return info ? { symbols: info.characters, distinct: info.distinct } : null;
}

const kLongestMultiple = 16;
const kTestShare = 0.1;
const kMemoryLimit = 2 * 1024 ** 3;

export function findProblems(values: Values, text: TextFacts | null, corpora: readonly string[] | null): Problem[] {
  return [
    ...taskProblems(values),
    ...positionProblems(values),
    ...textProblems(values, text, corpora),
    ...modelProblems(values, text),
  ];
}

function taskProblems(values: Values): Problem[] {
  const { task, length, distance, position } = values;
  if ((task === "copy" || task === "reverse") && length < 9) return [{ place: "length", kind: "copyLength", length }];
  if (task === "lookback" && distance >= length)
    return [{ place: "distance", kind: "distanceLength", distance, length }];
  if (task === "fixed-position" && position >= length - 1)
    return [{ place: "position", kind: "positionLength", position, length }];
  return [];
}

function positionProblems(values: Values): Problem[] {
  const { positions, positionsMaximum: maximum, positionsChunks: chunks, length } = values;
  if (positions === "plain") return [];
  if (positions !== "shift" && maximum < length) return [{ place: "positionsMaximum", kind: "positionsLeast", length }];
  if (positions === "pose" && chunks > length) return [{ place: "positionsChunks", kind: "chunksMost", length }];
  const largest = positions === "shift" ? maximum + length - 1 : maximum - 1;
  const short = values.encodings.find(({ type, ...rest }) => type === "learned" && largest >= rowsOf(rest, length));
  return short ? [{ place: "positionsMaximum", kind: "tableShort", rows: rowsOf(short, length), largest }] : [];
}

/** How many rows a learned table has. */
const rowsOf = (encoding: object, length: number): number => (encoding as { rows?: number }).rows ?? length;

function textProblems(values: Values, text: TextFacts | null, corpora: readonly string[] | null): Problem[] {
  if (values.task !== "text") return [];
  if (values.corpus === ownText) {
    if (!text || text.symbols === 0) return [{ place: "corpus", kind: "ownEmpty" }];
    const needed = shortestText(values.length);
    return text.symbols < needed ? [{ place: "corpus", kind: "ownTooShort", needed, given: text.symbols }] : [];
  }
  if (corpora && !corpora.includes(values.corpus))
    return [{ place: "corpus", kind: "missingCorpus", name: values.corpus }];
  return [];
}

/** The test part (a tenth) must hold a window of the longest length, and its end must be able to move. */
export const shortestText = (length: number): number => Math.ceil((kLongestMultiple * length + 3) / kTestShare) + 1;

function modelProblems(values: Values, text: TextFacts | null): Problem[] {
  const { dim, heads, encodings } = values;
  if (encodings.length === 0) return [{ place: "encodings", kind: "noEncodings" }];
  if (dim % heads !== 0) return [{ place: "heads", kind: "headsDivide", dim, heads }];
  const size = dim / heads;
  const problems: Problem[] = [];
  for (const encoding of encodings) {
    if ((encoding.type === "rope" || encoding.type === "xpos") && size % 2 !== 0) {
      problems.push({ place: "heads", kind: "headEven", size });
      break;
    }
    if (
      encoding.type === "rope" &&
      encoding.rotaryDim !== undefined &&
      (encoding.rotaryDim > size || encoding.rotaryDim % 2 !== 0)
    ) {
      problems.push({ place: "encodings", kind: "rotaryTooWide", rotary: encoding.rotaryDim, size });
    }
    if (encoding.type === "alibi" && Array.isArray(encoding.slopes) && encoding.slopes.length !== heads) {
      problems.push({ place: "encodings", kind: "slopesCount", given: encoding.slopes.length, heads });
    }
  }
  const vocabulary = text?.distinct ?? 100;
  const bytes = runBytes({ ...values, gated: false, vocabulary, longest: kLongestMultiple * values.length });
  if (bytes > kMemoryLimit) problems.push({ place: "dim", kind: "tooLarge", gigabytes: bytes / 1024 ** 3 });
  return problems;
}
