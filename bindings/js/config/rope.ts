// SPDX-License-Identifier: MIT
// Rotary embeddings out of a config: theta, the rotated width and the scaling, in both generations of the format
// (`rope_theta` beside `rope_scaling`; `rope_parameters`, flat or one object a kind of layer), resolved in the order in
// which transformers 5 resolves them.

import { wrongArgument } from "../errors.js";
import type { Rope } from "../types.js";
import type { Family } from "./family.js";
import { type ConfigReader, type Found, isObject } from "./reader.js";
import { kLength, kPositive, neededLength, resolveScaling, resolveSections, resolveType } from "./rope-scaling.js";

/** A rotation, resolved. */
export interface ResolvedRope {
  position: Rope;
  /** the width that `position` is about: the head, or the rotated part of a latent-attention head */ headDim: number;
  rotaryDim: number;
  sources: Record<string, string>;
}

/** What one kind of layer has for itself. */
export interface RopeOverride {
  /** keys of its own theta, before the common ones */ theta?: readonly string[];
  defaultTheta?: number;
  /** the scaling is another kind's */ unscaled?: boolean;
}

export const thetaKeys = [
  "rope_theta",
  "rotary_emb_base",
  "rope_embedding_base",
  "rope_base",
  "rotary_base",
  "rope_freq_constant",
  "attn_config.rope_theta",
] as const;
export const partialKeys = [
  "partial_rotary_factor",
  "rotary_pct",
  "rope_pct",
  "rotary_percentage",
  "rotary_emb_fraction",
] as const;
export const rotaryDimKeys = ["qk_rope_head_dim", "rotary_dim", "rotary_ndims"] as const;
const kDictionaries = ["rope_scaling", "rope_parameters", "attn_config.rope_hf_config"] as const;

/** What transformers falls back on where a model's own class says nothing. */
const kDefaultTheta = 10000;

/** The object that holds the scaling of a kind of layer, by its key; undefined when there is none. */
function dictionaryOf(reader: ConfigReader, layerType: string): string | undefined {
  const given = kDictionaries.filter((key) => {
    const found = reader.object([key]);
    return found !== undefined && Object.keys(found.value).length > 0;
  });
  if (given.length > 1)
    reader.caution(
      "two-keys",
      `${reader.shown("rope_scaling")} and ${reader.shown("rope_parameters")} are both there; transformers takes the first`,
    );
  const [dictionary] = given;
  if (dictionary === undefined) return undefined;
  return isObject(reader.raw(`${dictionary}.${layerType}`)) ? `${dictionary}.${layerType}` : dictionary;
}

/** True when the scaling objects are one a kind of layer. */
export function isNested(reader: ConfigReader): boolean {
  return kDictionaries.some((key) => {
    const dictionary = reader.raw(key);
    return (
      isObject(dictionary) &&
      Object.keys(dictionary).some((name) => name.endsWith("_attention")) &&
      Object.values(dictionary).every((value) => isObject(value) || value === null)
    );
  });
}

/** Everything about the rotation of one kind of layer. */
export function resolveRope(
  reader: ConfigReader,
  family: Family,
  headDim: Found<number> | undefined,
  layerType: string,
  override: RopeOverride = {},
): ResolvedRope {
  const dictionary = dictionaryOf(reader, layerType);
  const sources: Record<string, string> = { layout: layoutSource(reader, family) };
  const theta = resolveTheta(reader, family, dictionary, override);
  sources.theta = theta.source;
  const layout = resolveLayout(reader, family);
  const scalingKey = override.unscaled && !dictionary?.includes(".") ? undefined : dictionary;
  const type = scalingKey === undefined ? undefined : resolveType(reader, family, scalingKey, sources);

  const width = resolveWidth(reader, dictionary, headDim, type === "proportional");
  sources.rotaryDim = width.source;
  const position: Rope = { type: "rope", theta: theta.value, layout };
  if (type !== "proportional") position.rotaryDim = width.value;
  Object.assign(position, resolveSections(reader, family, scalingKey, width.value, sources));
  const alpha = type === "dynamic" ? reader.number([`${scalingKey}.alpha`], kPositive) : undefined;
  if (alpha && width.value > 2) {
    // HunYuan says "dynamic" and means one larger theta for every length.
    position.theta = theta.value * alpha.value ** (width.value / (width.value - 2));
    sources.theta = `${theta.source} times ${alpha.source} ^ (${width.value} / ${width.value - 2})`;
    delete sources["scaling.ropeType"];
  } else if (scalingKey !== undefined && type !== undefined && type !== "default") {
    const scaling = resolveScaling(reader, scalingKey, type, width.value, sources);
    position.scaling = scaling;
    if (type === "proportional" && width.partial !== undefined) scaling.partialRotaryFactor = width.partial;
    if (type === "ntk") fixNtk(position, scaling.factor!, width.value, sources);
    if (type === "dynamic") {
      const trained = neededLength(reader, "the trained length, from which dynamic scaling starts,");
      position.maxPositionEmbeddings = trained.value;
      sources.maxPositionEmbeddings = trained.source;
    }
  }
  if (family.dynamic && !position.scaling) addDynamic(reader, family.dynamic, position, sources);
  return { position, headDim: width.headDim, rotaryDim: width.value, sources };
}

/**
 * "ntk" of vLLM and GTE multiplies theta by the factor alone, and divides every frequency by factor^(2 / r), so that the
 * last one is divided by the factor as well.
 */
function fixNtk(position: Rope, factor: number, rotaryDim: number, sources: Record<string, string>): void {
  position.theta = position.theta! * factor;
  position.scaling = { ropeType: "linear", factor: factor ** (2 / rotaryDim) };
  sources.theta = `${sources.theta} times ${sources["scaling.factor"]}`;
  sources["scaling.factor"] = `${sources["scaling.factor"]} ^ (2 / ${rotaryDim})`;
}

/** Dynamic scaling by keys beside the others (Nomic). */
function addDynamic(
  reader: ConfigReader,
  { factor, trained }: NonNullable<Family["dynamic"]>,
  position: Rope,
  sources: Record<string, string>,
): void {
  const found = reader.number([factor], kPositive);
  if (!found) return;
  const length = reader.needed(reader.number([trained], kLength), [trained], "the trained length");
  position.scaling = { ropeType: "dynamic", factor: found.value };
  position.maxPositionEmbeddings = length.value;
  sources["scaling.ropeType"] = sources["scaling.factor"] = found.source;
  sources.maxPositionEmbeddings = length.source;
}

function resolveTheta(
  reader: ConfigReader,
  family: Family,
  dictionary: string | undefined,
  { theta = [], defaultTheta }: RopeOverride,
): Found<number> {
  const common = theta.length > 0 ? [] : thetaKeys;
  const nested = dictionary === undefined ? [] : [`${dictionary}.rope_theta`];
  const others = kDictionaries.map((key) => `${key}.rope_theta`).filter((key) => !nested.includes(key));
  const own = defaultTheta === undefined ? reader : reader.as(reader.family, {});
  const found = own.number([...nested, ...theta, ...common, ...(common.length > 0 ? others : [])], kPositive);
  const value = found ?? { value: defaultTheta ?? kDefaultTheta, source: `default of ${family.names[0]}` };
  if (!found || found.source.startsWith("default of "))
    reader.caution(
      "theta-by-default",
      `no key says theta: ${value.value}, the default of ${family.known === false ? "most programs" : family.names[0]}, is taken`,
    );
  const ratio = family.thetaTimes ? reader.number([family.thetaTimes], kPositive) : undefined;
  return ratio
    ? { value: value.value * ratio.value, source: `${value.source} times ${ratio.source}` }
    : { value: value.value, source: value.source };
}

function resolveLayout(reader: ConfigReader, family: Family): "half" | "interleaved" {
  const key = family.layoutKey ? reader.boolean([family.layoutKey]) : undefined;
  if (key) return key.value ? "interleaved" : "half";
  return family.layout ?? "half";
}

function layoutSource(reader: ConfigReader, family: Family): string {
  if (family.layoutKey && reader.has(family.layoutKey)) return reader.shown(family.layoutKey);
  return family.known === false ? "assumed: no key says which lanes pair" : `family ${family.names[0]}`;
}

interface Width extends Found<number> {
  headDim: number;
  partial?: number;
}

/** r: a key of its own, or the head's share, or the head. */
function resolveWidth(
  reader: ConfigReader,
  dictionary: string | undefined,
  headDim: Found<number> | undefined,
  wholeHead: boolean,
): Width {
  const direct = reader.number(rotaryDimKeys, { minimum: 2, whole: true });
  if (direct && !wholeHead) {
    if (direct.value % 2) throw wrongArgument("range", direct.source, direct.value, "an even number of lanes");
    if (direct.source.endsWith("qk_rope_head_dim")) return { ...direct, headDim: direct.value };
    if (headDim && direct.value > headDim.value)
      throw wrongArgument("range", direct.source, direct.value, `at most the head's width, ${headDim.value},`);
    return { ...direct, headDim: headDim?.value ?? direct.value };
  }
  const head = reader.needed(headDim, ["head_dim", "hidden_size with num_attention_heads"], "the width of a head");
  const keys = dictionary === undefined ? partialKeys : [`${dictionary}.partial_rotary_factor`, ...partialKeys];
  const partial = reader.number(keys, { above: 0 });
  if (partial && partial.value > 1)
    throw wrongArgument("range", partial.source, partial.value, "a share of the head, at most 1,");
  if (!partial || wholeHead) return { ...head, headDim: head.value, ...(partial ? { partial: partial.value } : {}) };
  const value = Math.floor(head.value * partial.value);
  if (value < 2 || value % 2)
    throw wrongArgument(
      "range",
      partial.source,
      partial.value,
      `a share that makes an even number of the ${head.value} lanes (this makes ${value})`,
    );
  const source = partial.value === 1 ? head.source : `${head.source} times ${partial.source}`;
  return { value, source, headDim: head.value };
}
