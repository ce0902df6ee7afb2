// SPDX-License-Identifier: MIT
// "poslab/config": what a model's config says about positions. For each kind of layer the scheme object, every resolved
// value with the key that it came from, and cautions where files and programs are known to go wrong.
//
//   import { explainConfig } from "poslab/config";
//   const { layers, cautions } = explainConfig(configJson);

import { PosLabError, wrongArgument } from "./errors.js";
import { differencesFor } from "./config/differences.js";
import { familyOf, languageModelOf, modelTypeOf } from "./config/families.js";
import type { Family } from "./config/family.js";
import { ggufReader, isGgufMetadata } from "./config/gguf-config.js";
import { hasNoPositions, kindOf, kNoRope, layerTypesOf } from "./config/layers.js";
import { paramsReader } from "./config/params.js";
import { ConfigReader, isObject, type Json } from "./config/reader.js";
import { builders } from "./config/schemes.js";
import {
  headDimOf,
  headsOf,
  layerCountOf,
  maxPositionsOf,
  softmaxScaleOf,
  temperatureOf,
  usableLengthOf,
  windowOf,
} from "./config/sizes.js";
import { integerFactors, parseConfig } from "./config/text.js";
import type { ConfigExplanation, ExplainOptions, LayerExplanation } from "./config/types.js";
import { checkOptions, readCount } from "./tensors.js";

export type * from "./config/types.js";
export { type FileLike, type RangeReader } from "./byte-source.js";
export { readConfigFile } from "./config/files.js";

/**
 * Explains a config: Hugging Face's config.json of both generations or the params.json of Meta and Mistral (as text or
 * parsed), GGUF metadata or a llama2.c header (as `readConfigFile` gives them). With `options.lab` the frequencies are
 * computed too.
 * @throws PosLabError naming the key: a number that is a text, true, NaN or negative; a list that does not fit; a config
 *   that says nothing about positions.
 */
export function explainConfig(config: unknown, options: ExplainOptions = {}): ConfigExplanation {
  checkOptions(options, ["layer", "length", "lab"]);
  const json = typeof config === "string" ? parseConfig(config) : config;
  if (!isObject(json)) throw wrongArgument("type", "config", json, "an object, as in config.json");
  const reader = isGgufMetadata(json) ? ggufReader(json) : (paramsReader(json) ?? new ConfigReader(json));
  if (typeof config === "string") noteIntegers(reader, config);
  const parts = explainParts(reader);
  const chosen = choose(parts, options.layer);
  computeFrequencies(chosen, parts.widths, options);
  const modelType = modelTypeOf(reader) ?? parts.family.names[0]!;
  return {
    modelType,
    layers: chosen,
    layerTypes: parts.layerTypes,
    usableLength: parts.usableLength,
    cautions: reader.cautions,
    differences: differencesFor(modelType, Object.values(chosen), reader.cautions),
  };
}

function noteIntegers(reader: ConfigReader, text: string): void {
  const integers = integerFactors(text);
  if (integers.length > 0)
    reader.caution(
      "integer-factor",
      `${integers.join(", ")}: without a decimal point; some versions of transformers warn or refuse unless it is written as ${integers[0]!.split(": ")[1]}.0`,
    );
}

interface Parts {
  family: Family;
  layers: Record<string, LayerExplanation>;
  layerTypes: string[] | null;
  /** where the file says it */ layerCount?: number | undefined;
  /** entries of `layers` by the name that a kind has in the file */ names: ReadonlyMap<string, string>;
  usableLength: number | null;
  /** the width that each entry's frequencies are about */ widths: Map<LayerExplanation, number>;
}

/** The whole model: the language model inside, the parts of an encoder with a decoder, or the layers as they are. */
function explainParts(outer: ConfigReader): Parts {
  const inside = languageModelOf(outer);
  const named = inside && isPartOfTable(outer) ? undefined : inside;
  if (named) {
    if (outer.has("vision_config") || outer.has("audio_config"))
      outer.caution(
        "language-model-only",
        `this is about ${named.path}; towers for images and sound have positions of their own`,
      );
    return explainParts(typed(outer.inner(named.path, named.json), outer));
  }
  const family = familyOf(outer);
  const widths = new Map<LayerExplanation, number>();
  if (!family.parts) return explainLayers(outer, family, widths);
  const parts = Object.entries(family.parts).map(([name, part]) => {
    const json = part.at === undefined ? undefined : outer.raw(part.at);
    const reader = part.at !== undefined && isObject(json) ? outer.inner(part.at, json) : outer;
    return [name, explainLayers(reader, { ...part, names: family.names }, widths)] as const;
  });
  for (const [code, message] of family.cautions ?? []) outer.caution(code, message);
  const layers = Object.fromEntries(
    parts.flatMap(([name, part]) =>
      Object.entries(part.layers).map(([kind, layer]) => [kind === "all" ? name : `${name}.${kind}`, layer]),
    ),
  );
  return { family, layers, layerTypes: null, names: new Map(), usableLength: parts[0]![1].usableLength, widths };
}

/** Families such as CLIP are about both of their parts. */
function isPartOfTable(reader: ConfigReader): boolean {
  try {
    return familyOf(new ConfigReader(reader.json)).parts !== undefined;
  } catch {
    return false;
  }
}

/** An inner config without a model_type is of the outer one's type. */
function typed(inner: ConfigReader, outer: ConfigReader): ConfigReader {
  const type = modelTypeOf(outer);
  if (inner.has("model_type") || type === undefined) return inner;
  return new ConfigReader(
    { ...inner.json, model_type: type },
    inner.defaults,
    inner.family,
    inner.shown,
    inner.cautions,
  );
}

function explainLayers(given: ConfigReader, family: Family, widths: Map<LayerExplanation, number>): Parts {
  const reader = withDefaults(given, family);
  for (const [code, message] of family.cautions ?? []) reader.caution(code, message);
  noteScores(reader);
  const kinds = layerTypesOf(reader, family);
  const unique = [...new Set(kinds)];
  const described = new Map(unique.map((kind) => [kind, explainKind(reader, family, kind, widths)]));
  const everywhere = family.perKind && unique.length > 1 ? undefined : baseKind(unique, described);
  const nameOf = (kind: string): string => (kind === everywhere ? "all" : kind);
  const first = described.get(everywhere ?? unique[0]!)!;
  return {
    family,
    layers: Object.fromEntries(unique.map((kind) => [nameOf(kind), described.get(kind)!])),
    layerTypes: unique.length > 1 ? kinds.map(nameOf) : null,
    layerCount: layerCountOf(reader),
    names: new Map(unique.map((kind) => [kind, nameOf(kind)])),
    usableLength: usableLengthOf(reader, first.position, maxPositionsOf(reader, family)),
    widths,
  };
}

/** What happens to scores beside their scale. */
function noteScores(reader: ConfigReader): void {
  const byLayer = reader.boolean(["scale_attn_by_inverse_layer_idx"]);
  if (byLayer?.value)
    reader.caution(
      "scale-by-layer",
      `${byLayer.source}: layer n (from 0) divides its scores by n + 1 beside what is given here`,
    );
  const cap = reader.number(["attn_logit_softcapping"], { minimum: 0 });
  if (cap && cap.value > 0)
    reader.caution(
      "softcap",
      `${cap.source} is ${cap.value}: the scores s become ${cap.value} tanh(s / ${cap.value}) before the mask and the softmax, which no scheme object says`,
    );
}

/** The class's defaults behind what the file says; a default scaling only where the file has none. */
function withDefaults(reader: ConfigReader, family: Family): ConfigReader {
  const { rope_parameters: scaling, ...defaults } = family.defaults ?? {};
  const hasOwn = reader.has("rope_scaling") || reader.has("rope_parameters");
  if (scaling === undefined || hasOwn) return reader.as(family.names[0]!, defaults);
  reader.caution("scaling-by-default", `no key says the scaling; what the class of ${family.names[0]} takes is given`);
  const json: Json = { ...reader.json, rope_parameters: scaling };
  return new ConfigReader(
    json,
    defaults,
    family.names[0],
    (key) => (key.startsWith("rope_parameters") ? `default of ${family.names[0]} (${key})` : reader.shown(key)),
    reader.cautions,
  );
}

/** The kind that "all" stands for: one that has positions and sees everything, where there is one. */
function baseKind(kinds: readonly string[], described: ReadonlyMap<string, LayerExplanation>): string {
  const withPositions = kinds.filter((kind) => described.get(kind)!.position.type !== "none");
  return withPositions.find((kind) => described.get(kind)!.window === null) ?? withPositions[0] ?? kinds[0]!;
}

function explainKind(
  reader: ConfigReader,
  family: Family,
  layerType: string,
  widths: Map<LayerExplanation, number>,
): LayerExplanation {
  const kind = layerType === kNoRope ? { none: true as const } : kindOf(family, layerType);
  const unrotated = hasNoPositions(reader, kind);
  const headDim = headDimOf(reader, family, kind);
  const built = builders[unrotated ? "none" : family.scheme]({ reader, family, kind, layerType, headDim });
  const window = windowOf(reader, family, kind);
  const scale = softmaxScaleOf(reader, family, headDim);
  const causal = reader.boolean(["causal", "is_causal"]);
  const sources: Record<string, string> = { ...built.sources };
  if (headDim) sources.headDim = headDim.source;
  if (window) sources.window = window.source;
  if (scale) sources.softmaxScale = scale.source;
  const layer: LayerExplanation = {
    position: built.position,
    heads: headsOf(reader)?.value ?? null,
    headDim: headDim?.value ?? built.rotatedHead ?? null,
    rotaryDim: built.rotaryDim ?? null,
    inverseFrequencies: null,
    attentionFactor: null,
    causal: causal?.value ?? family.causal ?? true,
    window: window?.value ?? null,
    softmaxScale: scale?.value ?? null,
    logitTemperature: temperatureOf(reader, family, unrotated),
    positionIds: built.positionIds ?? family.ids ?? { policy: "plain", offset: 0 },
    sources,
  };
  if (built.rotatedHead !== undefined) widths.set(layer, built.rotatedHead);
  return layer;
}

/** The entries that were asked for. */
function choose(
  { layers, layerTypes, layerCount, names }: Parts,
  layer: number | string | undefined,
): Record<string, LayerExplanation> {
  if (layer === undefined) return layers;
  let name = typeof layer === "string" ? (names.get(layer) ?? layer) : "";
  if (typeof layer !== "string") {
    const index = readCount(layer, "layer");
    const count = layerTypes?.length ?? layerCount ?? Infinity;
    if (index < 0 || index >= count) throw wrongArgument("range", "layer", layer, `a layer from 0 to ${count - 1}`);
    name = layerTypes?.[index] ?? Object.keys(layers)[0]!;
  }
  if (!Object.hasOwn(layers, name))
    throw new PosLabError(
      "unknownName",
      `layer: "${name}" is no kind of layer of this model; ${Object.keys(layers).join(", ")} are`,
      { argument: "layer", given: layer },
    );
  return { [name]: layers[name]! };
}

function computeFrequencies(
  layers: Readonly<Record<string, LayerExplanation>>,
  widths: ReadonlyMap<LayerExplanation, number>,
  { lab, length = 0 }: ExplainOptions,
): void {
  readCount(length, "length");
  if (!lab) return;
  for (const layer of Object.values(layers)) {
    const headDim = widths.get(layer);
    if (headDim === undefined) continue;
    const { inverseFrequencies, attentionFactor } = lab.frequencies(layer.position, { headDim, length });
    layer.inverseFrequencies = [...inverseFrequencies];
    layer.attentionFactor = attentionFactor;
  }
}
