// SPDX-License-Identifier: MIT
// From GGUF metadata to the names that a config.json has, with the way back for messages.

import { PosLabError, wrongArgument } from "../errors.js";
import { kIsGguf } from "./families.js";
import { ggufFamilies, ggufKeys } from "./gguf-families.js";
import { kMostLayers } from "./layers.js";
import { ConfigReader, type Json } from "./reader.js";

/** Where readGgufMetadata leaves the names of the tensors; no key of a file can be called so. */
export const kTensorNames = "\u0000tensors";

export function isGgufMetadata(json: Json): boolean {
  return json["general.architecture"] !== undefined;
}

/** A reader of the metadata under the names of a config.json; messages show the file's own keys. */
export function ggufReader(metadata: Json): ConfigReader {
  const architecture = metadata["general.architecture"];
  if (typeof architecture !== "string") throw wrongArgument("type", "general.architecture", architecture, "a text");
  const json: Record<string, unknown> = { model_type: architecture, [kIsGguf]: true };
  const shown = new Map([["model_type", "general.architecture"]]);
  for (const [key, name] of Object.entries(ggufKeys)) {
    const path = `${architecture}.${key}`;
    shown.set(name, path);
    if (Object.hasOwn(metadata, path)) put(json, name, metadata[path]);
  }
  for (const [name, key] of Object.entries(kComputed)) shown.set(name, `${architecture}.${key}`);
  const reader = new ConfigReader(json, {}, architecture, (key) => shown.get(key) ?? key);
  fitToConfig(reader, json, metadata);
  return reader;
}

function put(json: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) json[first] = value;
  else put((json[first] ??= {}) as Record<string, unknown>, rest.join("."), value);
}

/** What is worked out below, and the keys that it comes from. */
const kComputed: Json = {
  layer_types: "attention.sliding_window_pattern",
  qk_rope_head_dim: "rope.dimension_count",
  qk_nope_head_dim: "attention.key_length, the rest of it",
  "rope_scaling.attention_factor": "rope.scaling.attn_factor, times yarn's own",
  "rope_scaling.mscale": "rope.scaling.yarn_log_multiplier",
  "rope_scaling.mscale_all_dim": "rope.scaling.yarn_log_multiplier",
};

/** Where GGUF says the same in another way. */
function fitToConfig(reader: ConfigReader, json: Record<string, unknown>, metadata: Json): void {
  fitScaling(json);
  const scaling = json.rope_scaling as Record<string, unknown> | undefined;
  // Phi-4 and others write a window of 0 and mean none; a scale of 0 is llama.cpp's word for the usual one.
  for (const key of ["sliding_window", "attention_scale"]) if (Number(json[key]) === 0) delete json[key];
  fitLayers(json);
  const heads = json.num_attention_heads;
  if (Array.isArray(heads)) {
    const most = Math.max(...heads.map(Number));
    if (heads.some((count) => Number(count) !== most))
      reader.caution(
        "heads-differ",
        `${reader.shown("num_attention_heads")} differs from layer to layer; ${most} is taken`,
      );
    json.num_attention_heads = most;
  }
  for (const [tensor, what] of kFactorTensors) {
    const names = (metadata[kTensorNames] as string[] | undefined) ?? [];
    if (names.some((name) => name.endsWith(tensor)))
      reader.caution(
        "factors-in-tensors",
        `the tensor ${tensor} holds ${what}: the metadata does not have them, and the frequencies here are without them`,
      );
  }
  if (scaling?.rope_type === "longrope")
    throw new PosLabError(
      "notDefined",
      `${reader.shown("rope_scaling.rope_type")}: the factors of longrope are tensors of the file (rope_factors_short.weight, rope_factors_long.weight), and the metadata does not say them; the model's config.json does`,
      { argument: reader.shown("rope_scaling.rope_type") },
    );
}

/** Scaling as llama.cpp reads it. */
function fitScaling(json: Record<string, unknown>): void {
  const {
    yarn_log_multiplier: logarithm,
    yarn_attn_factor: yarnFactor,
    ...scaling
  } = {
    ...(json.rope_scaling as Record<string, unknown> | undefined),
  };
  // Files of 2023 say rope.scale_linear; a factor of 0 is none, and one without a type is linear.
  scaling.factor ??= json.rope_scale_linear;
  if (scaling.factor === 0 || scaling.factor === undefined) delete scaling.factor;
  if (scaling.factor !== undefined) scaling.rope_type ??= "linear";
  else if (scaling.rope_type === "linear") scaling.rope_type = "none";
  // Three sections are in a list of four; phi3 names the original length also where nothing is scaled.
  const sections = Array.isArray(scaling.mrope_section) ? scaling.mrope_section.map(Number) : [];
  while (sections.at(-1) === 0) sections.pop();
  if (sections.length > 0)
    Object.assign(scaling, { mrope_section: sections, rope_type: scaling.rope_type ?? "default" });
  else delete scaling.mrope_section;
  if (scaling.rope_type === undefined) delete json.rope_scaling;
  else json.rope_scaling = scaling;
  if (scaling.rope_type === "yarn") fitYarn(json, scaling, Number(logarithm ?? 0), yarnFactor);
}

/** ggml multiplies attn_factor to yarn's own magnitude; the logarithm's multiplier is mscale_all_dim. */
function fitYarn(
  json: Record<string, unknown>,
  scaling: Record<string, unknown>,
  logarithm: number,
  yarnFactor: unknown,
): void {
  const { factor, attn_factor: attnFactor = 1 } = scaling;
  if (typeof factor !== "number" || typeof attnFactor !== "number") return;
  const magnitude = (mscale: number): number => (factor <= 1 ? 1 : 1 + 0.1 * mscale * Math.log(factor));
  let own = magnitude(1);
  if (logarithm > 0) {
    // The converter of DeepSeek 2 has put the 0.1 into it, and both of its magnitudes are the same.
    const all = isLatent(json) ? logarithm * 10 : logarithm;
    const mscale = isLatent(json) ? all : 1;
    Object.assign(scaling, { mscale, mscale_all_dim: all });
    own = magnitude(mscale) / magnitude(all);
  }
  const times = attnFactor * (typeof yarnFactor === "number" ? yarnFactor : 1);
  delete scaling.attn_factor;
  if (times !== 1) scaling.attention_factor = own * times;
}

/** Which layers are local, listed or by a period; the parts of a latent head. */
function fitLayers(json: Record<string, unknown>): void {
  const { sliding_window_pattern: pattern, num_hidden_layers: layers, rotary_dim: rotated } = json;
  if (Array.isArray(pattern) || pattern === 0) {
    const isLocal = (layer: number): boolean => pattern === 0 || Boolean((pattern as unknown[])[layer]);
    const count = pattern === 0 ? Math.min(Number(layers ?? 1), kMostLayers) : (pattern as unknown[]).length;
    json.layer_types = Array.from({ length: count }, (_, layer) =>
      isLocal(layer) ? "sliding_attention" : "full_attention",
    );
    delete json.sliding_window_pattern;
  }
  // Latent attention: where a compressed cache has the usual key, key_length_mla is the width of a head.
  const width = json.qk_head_dim ?? json.head_dim;
  if (isLatent(json) && typeof width === "number" && typeof rotated === "number" && width >= rotated)
    Object.assign(json, { qk_rope_head_dim: rotated, qk_nope_head_dim: width - rotated });
}

function isLatent({ model_type: architecture }: Json): boolean {
  return ggufFamilies.some(
    ({ names, scale }) => names.includes(String(architecture)) && scale !== undefined && "latent" in scale,
  );
}

const kFactorTensors = [
  ["rope_freqs.weight", "divisors of the frequencies (llama3 scaling)"],
  ["rope_factors_long.weight", "longrope's factors for long texts"],
  ["rope_factors_short.weight", "longrope's factors for short texts"],
] as const;
