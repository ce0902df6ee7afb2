// SPDX-License-Identifier: MIT
// Which kind each layer of a model is: as `layer_types` lists them, or by the family's pattern, and which have no
// positions at all.

import type { Family, LayerKind } from "./family.js";
import type { ConfigReader } from "./reader.js";
import { layerCountOf } from "./sizes.js";

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
const kMostLayers = 4096;

function byPattern(reader: ConfigReader, family: Family, count: number | undefined): string[] {
  const { pattern } = family;
  const length = Math.min(count ?? 0, kMostLayers);
  const plain = family.noRope && reader.number(["attention_chunk_size"]) ? "chunked_attention" : kPlain;
  if (!pattern) return Array.from({ length: Math.max(length, 1) }, () => plain);
  if ("windowFrom" in pattern) {
    const from = reader.number([pattern.windowFrom], { minimum: 0, whole: true });
    const hasWindow = family.windowGate === undefined || reader.boolean([family.windowGate])?.value === true;
    return Array.from({ length: Math.max(length, 1) }, (_, layer) =>
      hasWindow && layer >= (from?.value ?? 28) ? "sliding_attention" : plain,
    );
  }
  const every = reader.number(pattern.every, { minimum: 1, whole: true })?.value ?? pattern.otherwise;
  const isSpecial = (layer: number): boolean => (layer + (pattern.fromFirst ? 0 : 1)) % every === 0;
  if (length === 0) return [pattern.special, pattern.rest];
  return Array.from({ length }, (_, layer) => (isSpecial(layer) ? pattern.special : pattern.rest));
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
