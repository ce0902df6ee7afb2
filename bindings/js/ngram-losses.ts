// SPDX-License-Identifier: MIT
// What counting alone reaches on a text, in nats per character: letter frequencies, pairs and triples, counted on the
// training part (the first 90 %) and measured on the rest, as the runs are. Drawn as lines, they make curves of losses readable.

export interface NgramLosses {
  letters: number;
  pairs: number;
  triples: number;
}

/** Added to every count, so that what was never seen has a probability; small enough not to disturb what was. */
const kAdded = 0.01;
const kTrainingPart = 0.9;

/** `null` for texts that are too short to say anything. */
export function ngramLosses(
  text: string | Uint8Array,
  unit: "characters" | "bytes" = "characters",
): NgramLosses | null {
  const symbols = toIds(text, unit);
  const cut = Math.floor(symbols.ids.length * kTrainingPart);
  if (symbols.ids.length - cut < 4) return null;
  const vocabulary = new Set(symbols.ids.subarray(0, cut)).size + 1;
  const [letters, pairs, triples] = [1, 2, 3].map((order) =>
    measure(symbols.ids, symbols.distinct, cut, vocabulary, order),
  );
  return { letters: letters!, pairs: pairs!, triples: triples! };
}

function toIds(text: string | Uint8Array, unit: "characters" | "bytes"): { ids: Int32Array; distinct: number } {
  const source = typeof text === "string" ? text : new TextDecoder().decode(text);
  const codes =
    unit === "bytes"
      ? typeof text === "string"
        ? new TextEncoder().encode(text)
        : text
      : Array.from(source, (character) => character.codePointAt(0)!);
  const known = new Map<number, number>();
  const ids = new Int32Array(codes.length);
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i]!;
    let id = known.get(code);
    if (id === undefined) known.set(code, (id = known.size));
    ids[i] = id;
  }
  return { ids, distinct: known.size };
}

function measure(ids: Int32Array, distinct: number, cut: number, vocabulary: number, order: number): number {
  const grams = new Map<number, number>(),
    contexts = new Map<number, number>();
  // A context is a number in base `distinct`; three symbols of the largest Unicode vocabulary still fit in 53 bits.
  const contextAt = (end: number): number => {
    let key = 0;
    for (let i = end - order + 1; i < end; i += 1) key = key * distinct + ids[i]!;
    return key;
  };
  for (let i = order - 1; i < cut; i += 1) {
    const context = contextAt(i),
      gram = context * distinct + ids[i]!;
    contexts.set(context, (contexts.get(context) ?? 0) + 1);
    grams.set(gram, (grams.get(gram) ?? 0) + 1);
  }
  let sum = 0,
    count = 0;
  for (let i = cut + order - 1; i < ids.length; i += 1) {
    const context = contextAt(i),
      seen = grams.get(context * distinct + ids[i]!) ?? 0;
    sum -= Math.log((seen + kAdded) / ((contexts.get(context) ?? 0) + kAdded * vocabulary));
    count += 1;
  }
  return sum / count;
}
