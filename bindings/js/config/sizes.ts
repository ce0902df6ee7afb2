// SPDX-License-Identifier: MIT
// The numbers around the encoding: the width of a head, windows, the softmax scale, the temperature, and how long a text
// may be.

import { wrongArgument } from "../errors.js";
import type { Position } from "../types.js";
import type { Family, LayerKind } from "./family.js";
import type { ConfigReader, Found } from "./reader.js";
import { kLength, kNtkIsFixed, kPositive, maxPositionKeys } from "./rope-scaling.js";
import type { LogitTemperature } from "./types.js";

const kCount = { minimum: 1, whole: true } as const;
const kHiddenKeys = ["hidden_size", "n_embd", "d_model", "dim", "n_embed"];
const kHeadKeys = [
  "num_attention_heads",
  "n_head",
  "n_heads",
  "num_heads",
  "decoder_attention_heads",
  "encoder_attention_heads",
  "decoder_num_attention_heads",
  "encoder_num_attention_heads",
];
const kHeadDimKeys = ["head_dim", "kv_channels", "d_kv", "d_head", "attention_head_dim"];
const kLayerKeys = ["num_hidden_layers", "n_layer", "n_layers", "num_layers"];

export function headsOf(reader: ConfigReader): Found<number> | undefined {
  return reader.number(kHeadKeys, kCount);
}

export function layerCountOf(reader: ConfigReader): number | undefined {
  return reader.number(kLayerKeys, { minimum: 0, whole: true })?.value;
}

/** The width of a query and key head: its own key, or the model's width shared out. */
export function headDimOf(reader: ConfigReader, { scale, scheme }: Family, kind: LayerKind): Found<number> | undefined {
  if (scale && "latent" in scale) return latentHead(reader, scheme === "rope");
  const given = reader.number(kind.headDim ? [kind.headDim, ...kHeadDimKeys] : kHeadDimKeys, kCount);
  if (given) return given;
  const hidden = reader.number(kHiddenKeys, kCount);
  const heads = headsOf(reader);
  if (!hidden || !heads) return undefined;
  if (hidden.value % heads.value)
    throw wrongArgument(
      "contradiction",
      hidden.source,
      hidden.value,
      `a multiple of ${heads.source}, ${heads.value}, or a head_dim`,
    );
  return { value: hidden.value / heads.value, source: `${hidden.source} / ${heads.source}` };
}

/** Latent attention: a rotated part after an unrotated one. */
function latentHead(reader: ConfigReader, rotates: boolean): Found<number> | undefined {
  const rotated = reader.number(["qk_rope_head_dim"], kCount);
  const unrotated = reader.number(["qk_nope_head_dim"], { minimum: 0, whole: true });
  if (!rotated || !unrotated) return undefined;
  if (rotates)
    reader.caution(
      "latent-attention",
      `the rotation turns a part of its own of every query and key, ${rotated.value} wide and after ${unrotated.value} unrotated lanes; the scheme object is about that part`,
    );
  return { value: rotated.value + unrotated.value, source: `${unrotated.source} + ${rotated.source}` };
}

export function maxPositionsOf(
  reader: ConfigReader,
  { maxPositions }: Pick<Family, "maxPositions">,
): Found<number> | undefined {
  return reader.number(maxPositions ? [maxPositions] : maxPositionKeys, kLength);
}

/** Keys that a query sees, itself included. */
export function windowOf(reader: ConfigReader, family: Family, kind: LayerKind): Found<number> | undefined {
  if (kind.window === "chunk") {
    const chunk = reader.number(["attention_chunk_size"], kLength);
    if (chunk)
      reader.caution(
        "chunks",
        `${chunk.source} ${chunk.value}: a query sees its own chunk only, the keys from the last multiple of ${chunk.value} on, not the last ${chunk.value} keys`,
      );
    return chunk;
  }
  // Where the file lists the kinds, a window is those layers' that are listed as local.
  if (kind.window === undefined && (!family.window || reader.has("layer_types"))) return undefined;
  if (!gateIsOpen(reader, family)) return undefined;
  const keys = family.windowKeys ?? ["sliding_window"];
  const isListed = family.windowKeys !== undefined && Array.isArray(reader.raw(keys[0]!));
  const window = isListed ? equalWindows(reader, keys) : reader.number(keys, kLength);
  if (window && kind.window === "both-sides")
    reader.caution(
      "window-both-sides",
      `${window.source} ${window.value}: a query sees ${Math.floor(window.value / 2)} keys to either side, not ${window.value} before it`,
    );
  if (window && family.windowShare !== undefined)
    return {
      value: Math.max(1, Math.floor(window.value * family.windowShare)),
      source: `${window.source} times ${family.windowShare}`,
    };
  return window;
}

/** Whether a window counts, where a family has a switch for it. */
export function gateIsOpen(reader: ConfigReader, { windowGate, known }: Family): boolean {
  if (windowGate === undefined) return true;
  return reader.boolean([windowGate])?.value ?? known === false;
}

/** A window listed layer by layer. */
function equalWindows(reader: ConfigReader, keys: readonly string[]): Found<number> | undefined {
  const list = reader.numbers(keys, kLength);
  const [first] = list?.value ?? [];
  if (!list || first === undefined) return undefined;
  const largest = list.value.reduce((most, value) => Math.max(most, value), first);
  if (list.value.some((value) => value !== first))
    reader.caution("windows-differ", `${list.source} differs from layer to layer; the largest, ${largest}, is given`);
  return { value: largest, source: list.source };
}

/** The factor of q k before the softmax. */
export function softmaxScaleOf(
  reader: ConfigReader,
  { scale, known }: Pick<Family, "scale" | "known">,
  headDim: Found<number> | undefined,
): Found<number> | undefined {
  if (known === false) {
    const multiplier = reader.number(["attention_multiplier"], kPositive);
    if (multiplier) return multiplier;
    const scalar = reader.number(["query_pre_attn_scalar"], kPositive);
    if (scalar) return { value: scalar.value ** -0.5, source: `1 / sqrt(${scalar.source})` };
  }
  if (scale && "constant" in scale)
    return { value: scale.constant, source: "the family's own: no 1 / sqrt(head width)" };
  if (scale && "key" in scale) {
    const given = reader.number([scale.key], kPositive);
    if (given) return given;
  }
  if (scale && "inverseSqrt" in scale) {
    const given = reader.number([scale.inverseSqrt], kPositive);
    if (given) return { value: given.value ** -0.5, source: `1 / sqrt(${given.source})` };
  }
  if (scale && "modelShare" in scale) {
    const hidden = reader.number(kHiddenKeys, kCount);
    const heads = headsOf(reader);
    if (hidden && heads)
      return { value: (heads.value / hidden.value) ** 0.5, source: `1 / sqrt(${hidden.source} / ${heads.source})` };
  }
  if (!headDim) return undefined;
  if (scale && "latent" in scale) return latentScale(reader, headDim);
  if (scale && "inverseHead" in scale) return { value: 1 / headDim.value, source: `1 / (${headDim.source})` };
  if (scale && "terms" in scale) {
    const terms = termsAt(reader, scale.terms);
    return {
      value: (headDim.value * (1 + terms)) ** -0.5,
      source: `1 / sqrt(${1 + terms} times ${headDim.source}): content and ${terms} terms of ${scale.terms}`,
    };
  }
  return { value: headDim.value ** -0.5, source: `1 / sqrt(${headDim.source})` };
}

/** The positional terms of DeBERTa: a list, or a text such as "c2p|p2c". */
export function termsAt(reader: ConfigReader, key: string): number {
  const given = typeof reader.raw(key) === "string" ? reader.text([key])!.value.split("|") : reader.texts([key])?.value;
  return (given ?? []).filter((term) => term === "c2p" || term === "p2c").length;
}

/** DeepSeek: yarn's second magnitude goes into the scale, squared. */
function latentScale(reader: ConfigReader, headDim: Found<number>): Found<number> {
  const plain = headDim.value ** -0.5;
  const source = `1 / sqrt(${headDim.source})`;
  for (const dictionary of ["rope_scaling", "rope_parameters"]) {
    const mscale = reader.number([`${dictionary}.mscale_all_dim`], { minimum: 0 });
    const factor = reader.number([`${dictionary}.factor`], kPositive);
    const type = reader.text([`${dictionary}.rope_type`, `${dictionary}.type`])?.value ?? "default";
    if (!mscale || !factor || mscale.value === 0 || factor.value <= 1 || type === "default") continue;
    const magnitude = 0.1 * mscale.value * Math.log(factor.value) + 1;
    return {
      value: plain * magnitude ** 2,
      source: `${source}, times (0.1 ${mscale.source} ln ${factor.source} + 1)^2`,
    };
  }
  return { value: plain, source };
}

/** A factor of the logits that grows with the position. */
export function temperatureOf(reader: ConfigReader, family: Family, unrotated: boolean): LogitTemperature | null {
  for (const dictionary of ["rope_parameters", "rope_scaling"]) {
    const beta = reader.number([`${dictionary}.llama_4_scaling_beta`], { minimum: 0 });
    const length = reader.number([`${dictionary}.original_max_position_embeddings`], kLength);
    if (beta && length) return { type: "floor-log", length: length.value, scale: beta.value, first: 0 };
  }
  const { temperature, temperatureKeys: keys } = family;
  if (!temperature || !keys || !reader.boolean([keys.when])?.value) return null;
  if (temperature.type === "floor-log" && !unrotated) return null;
  return {
    ...temperature,
    length: reader.number([keys.length], kLength)?.value ?? temperature.length,
    scale: (keys.scale ? reader.number([keys.scale], { minimum: 0 })?.value : undefined) ?? temperature.scale,
  };
}

/** Tokens that a scheme can take before something ends: the table, or what the frequencies were made for. */
export function usableLengthOf(
  reader: ConfigReader,
  position: Position,
  longest: Found<number> | undefined,
): number | null {
  if (position.type === "learned") return position.rows === undefined ? null : position.rows - (position.offset ?? 0);
  if (position.type === "alibi" || position.type === "t5" || position.type === "transformer-xl") return null;
  if (!longest) return null;
  if (position.type !== "rope" || !position.scaling) return longest.value;
  const { ropeType, factor = 1, originalMaxPositionEmbeddings: original = longest.value } = position.scaling;
  // Nomic says the extended length beside the trained one.
  if (ropeType === "dynamic" && longest.value > (position.maxPositionEmbeddings ?? Infinity)) return longest.value;
  if (ropeType === "dynamic") {
    reader.caution(
      "length-times-factor",
      `${longest.source} (${longest.value}) is the trained length under ${ropeType} scaling; the factor ${factor} makes ${longest.value * factor} of it`,
    );
    return longest.value * factor;
  }
  if (ropeType === "yarn") return Math.max(longest.value, Math.floor(original * factor));
  if (ropeType === "linear" && !reader.cautions.some(({ code }) => code === kNtkIsFixed))
    reader.caution(
      "linear-length",
      `${longest.source} (${longest.value}) is taken as the extended length; if it were the trained one, the factor ${factor} would make ${longest.value * factor} of it, and that is how vLLM reads it`,
    );
  return longest.value;
}
