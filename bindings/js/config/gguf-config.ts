// SPDX-License-Identifier: MIT
// From GGUF metadata to the names that a config.json has, with the way back for messages.

import { PosLabError, wrongArgument } from "../errors.js";
import { kIsGguf } from "./families.js";
import { ggufKeys } from "./gguf-families.js";
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
  const reader = new ConfigReader(json, {}, architecture, (key) => shown.get(key) ?? key);
  fitToConfig(reader, json, metadata);
  return reader;
}

function put(json: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) json[first] = value;
  else put((json[first] ??= {}) as Record<string, unknown>, rest.join("."), value);
}

/** Where GGUF says the same in another way. */
function fitToConfig(reader: ConfigReader, json: Record<string, unknown>, metadata: Json): void {
  const scaling = json.rope_scaling as Record<string, unknown> | undefined;
  // phi3 names the original length also where nothing is scaled.
  if (scaling && scaling.rope_type === undefined) delete json.rope_scaling;
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

const kFactorTensors = [
  ["rope_freqs.weight", "divisors of the frequencies (llama3 scaling)"],
  ["rope_factors_long.weight", "longrope's factors for long texts"],
  ["rope_factors_short.weight", "longrope's factors for short texts"],
] as const;
