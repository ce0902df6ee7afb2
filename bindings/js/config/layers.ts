// SPDX-License-Identifier: MIT
// Which kind each layer of a model is: as `layer_types` lists them, or by the family's pattern, and which have no
// positions at all.

import { wrongArgument } from "../errors.js";
import type { Family, LayerKind } from "./family.js";
import type { ConfigReader, Found } from "./reader.js";
import { gateIsOpen, layerCountOf } from "./sizes.js";

/** Layers without positions that are otherwise like the others. */
export const kNoRope = "no_rope";

/** The kind of a layer that nothing is said about. */
const kPlain = "full_attention";

/** What the names that transformers uses mean where a family says nothing of its own. */
export function kindOf(family: Family, layerType: string): LayerKind {
  const own = family.kinds?.[layerType] ?? family.kinds?.all;
  if (own) return own;
  if (layerType === kNoRope) return { none: true };
  if (/sliding|local/.test(layerType)) return { window: "sliding" };
  if (/chunk/.test(layerType)) return { window: "chunk" };
  if (/linear|mamba|conv|recurrent|ssm/.test(layerType)) return { none: true };
  return {};
}

/** True for layers whose queries and keys stay as they are. */
export function hasNoPositions(reader: ConfigReader, { none }: LayerKind): boolean {
  return typeof none === "object" ? reader.number([none.with]) !== undefined : none === true;
}

/** The kind of each layer; one entry where the file does not say how many layers there are. */
export function layerTypesOf(reader: ConfigReader, family: Family): string[] {
  const count = layerCountOf(reader);
  const listed = reader.texts(["layer_types"]);
  if (listed && count !== undefined && listed.value.length !== count)
    reader.caution(
      "layer-count",
      `${listed.source} lists ${listed.value.length} layers, and there are ${count}; the list is taken`,
    );
  const kinds = listed && listed.value.length > 0 ? listed.value : byPattern(reader, family, count);
  return family.noRope ? withoutRope(reader, kinds) : kinds;
}

/** Refuses to make lists of what no model has. */
export const kMostLayers = 4096;

function byPattern(reader: ConfigReader, family: Family, count: number | undefined): string[] {
  const { pattern } = family;
  const length = Math.min(count ?? 0, kMostLayers);
  const plain = family.noRope && reader.number(["attention_chunk_size"]) ? "chunked_attention" : kPlain;
  const each = (kindAt: (layer: number) => string): string[] =>
    Array.from({ length: Math.max(length, 1) }, (_, layer) => kindAt(layer));
  if (!pattern) return each(() => plain);
  if ("windowFrom" in pattern) {
    const from = reader.number([pattern.windowFrom], { minimum: 0, whole: true }) ?? {
      value: 28,
      source: `${reader.shown(pattern.windowFrom)}, by default`,
    };
    const hasWindow = gateIsOpen(reader, family);
    cautionAboutWindow(reader, family, hasWindow, from, length);
    return each((layer) => (hasWindow && layer >= from.value ? "sliding_attention" : plain));
  }
  if (pattern.with !== undefined && reader.number([pattern.with]) === undefined) return each(() => pattern.special);
  const letters = lettersOf(reader, pattern.every);
  const every =
    letters?.length ?? reader.number(pattern.every, { minimum: 1, whole: true })?.value ?? pattern.otherwise;
  const isSpecial = (layer: number): boolean =>
    letters
      ? letters[layer % every] !== "L" || layer === length - 1
      : (layer + (pattern.fromFirst ? 0 : 1)) % every === 0;
  if (length === 0) return [pattern.special, pattern.rest];
  return each((layer) => (isSpecial(layer) ? pattern.special : pattern.rest));
}

/** A window that stands in the file and reaches no layer. */
function cautionAboutWindow(
  reader: ConfigReader,
  { windowGate = "" }: Family,
  hasWindow: boolean,
  from: Found<number>,
  count: number,
): void {
  const window = reader.number(["sliding_window"]);
  if (!window) return;
  if (!hasWindow && !reader.has(windowGate))
    reader.caution(
      "window-without-effect",
      `${window.source} is ${window.value}, but ${reader.shown(windowGate)} is not there and false by default: every layer sees everything`,
    );
  if (hasWindow && count > 0 && from.value >= count)
    reader.caution(
      "window-without-effect",
      `${window.source} is ${window.value}, but holds from layer ${from.value} on (${from.source}), and there are ${count}: every layer sees everything`,
    );
}

/** "LLLG": local and global layers in turn, and the last layer global whatever its turn (EXAONE 4). */
function lettersOf(reader: ConfigReader, keys: readonly string[]): string | undefined {
  const key = keys.find((name) => typeof reader.raw(name) === "string");
  const letters = key === undefined ? undefined : reader.text([key]);
  if (letters && !/^[LG]+$/.test(letters.value))
    throw wrongArgument("range", letters.source, letters.value, "a whole number, or letters L (local) and G (global),");
  return letters?.value;
}

/** no_rope_layers: 1 means that the layer rotates and 0 that it does not, whatever the name says. */
function withoutRope(reader: ConfigReader, kinds: readonly string[]): string[] {
  const listed = reader.numbers(["no_rope_layers"], { minimum: 0, whole: true });
  const isListed = listed !== undefined && listed.value.length > 0;
  if (isListed)
    reader.caution(
      "no-rope-layers",
      `${listed.source}: 1 means that a layer rotates and 0 that it does not; the name says the opposite`,
    );
  const interval = reader.number(["no_rope_layer_interval"], { minimum: 1, whole: true })?.value ?? 4;
  return kinds.map((kind, layer) => {
    const rotates = isListed ? (listed.value[layer] ?? 1) !== 0 : (layer + 1) % interval !== 0;
    return rotates ? kind : kNoRope;
  });
}
