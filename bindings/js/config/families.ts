// SPDX-License-Identifier: MIT
// Which family a config is of: by its model_type, else by the name of its class, else by the keys that it has. A config
// whose keys say nothing about positions is refused.

import { PosLabError } from "../errors.js";
import { decoderFamilies } from "./decoder-families.js";
import { encoderFamilies } from "./encoder-families.js";
import type { Family } from "./family.js";
import { ggufFamilies } from "./gguf-families.js";
import { type ConfigReader, isObject, type Json } from "./reader.js";
import { partialKeys, rotaryDimKeys, thetaKeys } from "./rope.js";

/** Every family, those with conditions before those without. */
export const families: readonly Family[] = [...decoderFamilies, ...encoderFamilies];

/** A guess from keys: the first whose keys are there. */
const kByKeys: readonly { keys: readonly string[]; family: Omit<Family, "names">; name?: string }[] = [
  { keys: ["relative_attention_num_buckets"], family: { scheme: "t5" } },
  { keys: ["position_buckets", "max_relative_positions"], family: { scheme: "deberta", causal: false } },
  {
    keys: [...thetaKeys, ...partialKeys, ...rotaryDimKeys, "rope_scaling", "rope_parameters", "rope_ratio"],
    family: { scheme: "rope", window: true, windowGate: "use_sliding_window" },
  },
  { keys: ["clamp_len"], family: { scheme: "transformer-xl" } },
  { keys: ["type_vocab_size"], family: { scheme: "learned", causal: false } },
  { keys: ["patch_size"], family: { scheme: "grid", options: { extraRows: 1 }, causal: false } },
];
/** What position_embedding_type or a flag may say where the model type is not known. */
const kByValue: readonly { when: Json; family: Omit<Family, "names">; name?: string }[] = [
  { when: { alibi: true }, family: { scheme: "alibi" } },
  { when: { use_alibi: true }, family: { scheme: "alibi" } },
  { when: { "attn_config.alibi": true }, family: { scheme: "alibi" } },
  { when: { position_embedding_type: "alibi" }, family: { scheme: "alibi" } },
  { when: { position_embedding_type: ["rope", "rotary"] }, family: { scheme: "rope" } },
  { when: { position_embedding_type: "absolute" }, family: { scheme: "learned" } },
  { when: { position_embedding_type: ["learned", "learned_absolute"] }, family: { scheme: "learned" } },
  { when: { position_embedding_type: ["none", "nope"] }, family: { scheme: "none" } },
  // Early files of RoBERTa have no model_type; a power of two and two rows more is its mark.
  {
    name: "roberta",
    when: { max_position_embeddings: [514, 1026, 2050, 4098, 8194], type_vocab_size: 1 },
    family: { scheme: "learned", causal: false, ids: { policy: "mask", offset: 2, paddingRow: 1 } },
  },
];

/** What the file calls itself. */
export function modelTypeOf(reader: ConfigReader): string | undefined {
  return reader.text(["model_type"])?.value;
}

export function familyOf(reader: ConfigReader): Family {
  const type = modelTypeOf(reader);
  const table = reader.json[kIsGguf] === true ? ggufFamilies : families;
  const named = type === undefined ? byClass(reader) : table.filter(({ names }) => names.includes(type));
  const row = named.find(({ when }) => !when || holds(reader, when));
  if (row) {
    noteUnknownKind(reader, row);
    return type === undefined ? row : { ...row, names: [type] };
  }
  const guess =
    kByValue.find(({ when }) => holds(reader, when)) ?? kByKeys.find(({ keys }) => keys.some((key) => reader.has(key)));
  if (!guess) throw nothingAboutPositions(reader, type);
  reader.caution(
    "unknown-model-type",
    `${type === undefined ? "there is no model_type" : `model_type "${type}" is not in the tables here`}; the scheme ${guess.family.scheme} is read from the keys that are there, and what has no key is assumed`,
  );
  return { ...guess.family, names: [type ?? guess.name ?? "unknown"], known: false };
}

/** Every value of position_embedding_type that some row looks for. */
const kEmbeddingTypes = new Set(
  [...families, ...kByValue].flatMap(({ when }) => [when?.["position_embedding_type"] ?? []].flat()),
);

function noteUnknownKind(reader: ConfigReader, { scheme }: Family): void {
  const kind = reader.text(["position_embedding_type"]);
  if (!kind || kEmbeddingTypes.has(kind.value)) return;
  reader.caution(
    "unknown-position-embedding-type",
    `${kind.source}: "${kind.value}" is not known here; the scheme ${scheme}, which models of this type have otherwise, is taken`,
  );
}

/** Marks what was made from GGUF metadata; no key of a file can be called so. */
export const kIsGguf = "\u0000gguf";

/** "RobertaForMaskedLM" names a family too. */
function byClass(reader: ConfigReader): readonly Family[] {
  const [name] = reader.texts(["architectures"])?.value ?? [];
  if (name === undefined) return [];
  const stem = plain(name.replace(/(For[A-Z].*|LMHeadModel|Model)$/, ""));
  const named = families.filter(({ names }) => names.some((one) => plain(one) === stem));
  if (named.length > 0)
    reader.caution("no-model-type", `there is no model_type; architectures says ${name}, and that is taken`);
  return named;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

function holds(reader: ConfigReader, when: Json): boolean {
  return Object.entries(when).every(([key, wanted]) => {
    const value = reader.raw(key) ?? null;
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
  });
}

function nothingAboutPositions(reader: ConfigReader, type: string | undefined): PosLabError {
  const keys = ["max_position_embeddings", "n_positions"].filter((key) => reader.has(key));
  const shown = type === undefined ? "there is no model_type" : `model_type "${type}" is not known here`;
  const why =
    keys.length > 0
      ? `${keys.join(" and ")} alone may belong to a learned table or to a rotation`
      : "no key says anything about positions";
  return new PosLabError(
    "missing",
    `config: ${shown}, and ${why}; rope_theta, rope_parameters, alibi or position_embedding_type would tell`,
    {
      argument: "config",
      given: type,
    },
  );
}

/** Where a model of several parts keeps its language model. */
const kLanguageModels = ["text_config", "llm_config", "language_config", "thinker_config.text_config", "text_model"];

/** The language model inside a config that is about more than that, by its path. */
export function languageModelOf(reader: ConfigReader): { path: string; json: Json } | undefined {
  for (const path of kLanguageModels) {
    const json = reader.raw(path);
    if (isObject(json) && Object.keys(json).length > 0) return { path, json };
  }
  return undefined;
}
