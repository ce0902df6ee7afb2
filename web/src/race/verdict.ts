// SPDX-License-Identifier: MIT
// The verdict sentence: facts that the package computes from the numbers, put into words of the chosen language. The
// result is a list of pieces, so that scheme names can be drawn in their colour.

import type { EncodingVerdict, Verdict } from "../engine/poslab.js";
import type { Dictionary } from "../language/english.js";
import { gap } from "../language/spacing.js";

export type Piece = { text: string } | { encoding: number; name: string };

interface Wording {
  words: Dictionary;
  count: (value: number) => string;
  fixed: (value: number, digits: number) => string;
  name: (encoding: number) => string;
}

/** More clauses than this make a sentence that nobody reads; the table below the charts has every number. */
const kMostOfAKind = 3;

export function verdictPieces(verdict: Verdict, wording: Wording): Piece[] {
  const { words, count } = wording;
  const templates = words.race.verdict;
  const broken = verdict.encodings.filter((entry) => entry.outcome === "breaks").sort(byDamage);
  const holding = verdict.encodings
    .filter((entry) => entry.outcome === "holds")
    .sort((a, b) => (a.worst ?? 0) - (b.worst ?? 0));
  const missing = verdict.encodings.filter((entry) => entry.outcome === "not-defined");
  const clauses = [broken, holding, missing].map((group) =>
    group.slice(0, kMostOfAKind).map((entry) => clause(entry, verdict, wording)),
  );
  const groups = clauses.filter((group) => group.length > 0);
  if (groups.length === 0) return [{ text: templates.nothing }];
  const pieces: Piece[] = [{ text: templates.lead(count(verdict.trainedLength)) }];
  groups.forEach((group, index) => {
    if (index > 0) pieces.push({ text: words.punctuation.clause });
    group.forEach((part, at) => pieces.push(...(at > 0 ? [{ text: words.punctuation.comma }] : []), ...part));
  });
  pieces.push({ text: templates.end });
  if (verdict.bestAtLongest !== null && verdict.encodings.length > 1) {
    const best = named(templates.best(count(verdict.longest)), verdict.bestAtLongest, wording);
    pieces.push({ text: words.punctuation.sentence }, ...best);
  }
  return pieces;
}

const byDamage = (a: EncodingVerdict, b: EncodingVerdict) =>
  (a.breaksAt ?? Infinity) - (b.breaksAt ?? Infinity) || (b.breaksBy ?? 0) - (a.breaksBy ?? 0);

function clause(entry: EncodingVerdict, verdict: Verdict, wording: Wording): Piece[] {
  const { words, count, fixed } = wording;
  const templates = words.race.verdict;
  const accuracy = verdict.measure === "accuracy";
  const amount = (value: number) => (accuracy ? fixed(100 * value, 0) : fixed(value, 2));
  switch (entry.outcome) {
    case "breaks": {
      const template = accuracy ? templates.breaksAccuracy : templates.breaksLoss;
      return named(
        template(amount(entry.breaksBy ?? 0), count((entry.breaksAt ?? verdict.longest) - verdict.trainedLength)),
        entry.encoding,
        wording,
      );
    }
    case "holds": {
      const template = accuracy ? templates.holdsAccuracy : templates.holdsLoss;
      // Rounded up: "within 0.02" must be true.
      const scale = accuracy ? 1 : 100;
      const worst = Math.ceil((entry.worst ?? 0) * 100 - 1e-9) / 100;
      return named(
        template(
          accuracy ? fixed(Math.max(1, worst * 100), 0) : fixed(Math.max(1 / scale, worst), 2),
          count(entry.lastDefined ?? verdict.longest),
        ),
        entry.encoding,
        wording,
      );
    }
    case "not-defined":
      return named(templates.undefinedPast, entry.encoding, wording);
    case "failed":
      return named(templates.failed, entry.encoding, wording);
  }
}

function named(template: string, encoding: number, wording: Wording): Piece[] {
  const [before = "", after = ""] = template.split("{name}");
  const name = wording.name(encoding);
  return [{ text: before + gap(before, name) }, { encoding, name }, { text: gap(name, after) + after }].filter(
    (piece) => !("text" in piece) || piece.text !== "",
  );
}

export const plainText = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => ("text" in piece ? piece.text : piece.name)).join("");
