// SPDX-License-Identifier: MIT
// The scaling of a rotary embedding out of a config: its type under all the names it has had, its numbers with their
// keys, what follows from other numbers, and what deserves a caution.

import { PosLabError, wrongArgument } from "../errors.js";
import type { Rope, RopeScaling } from "../types.js";
import type { Family } from "./family.js";
import type { ConfigReader, Found, NumberRule } from "./reader.js";
import { named } from "../named.js";

export const kPositive: NumberRule = { above: 0 };
export const kLength: NumberRule = { minimum: 1, whole: true };
export const maxPositionKeys = [
  "max_position_embeddings",
  "n_positions",
  "max_seq_len",
  "seq_length",
  "max_sequence_length",
  "model_max_length",
  "max_trained_positions",
  "n_ctx",
  "seq_len",
] as const;
type RopeType = RopeScaling["ropeType"];

const kRopeTypes: readonly RopeType[] = [
  "default",
  "linear",
  "ntk",
  "dynamic",
  "yarn",
  "longrope",
  "llama3",
  "proportional",
];
/** The caution about a scaling that is no linear one, though it is written as one. */
export const kNtkIsFixed = "not-in-transformers";
/** Names of other times and programs. */
const kOtherNames: Readonly<Record<string, RopeType>> = {
  su: "longrope",
  mrope: "default",
  none: "default",
  no_scaling: "default",
  deepseek_yarn: "yarn",
  "dynamic-ntk": "dynamic",
};

/** A number of a scaling: its name here, its key there, and what it may be. */
interface ScalingField {
  field: keyof RopeScaling;
  key: string;
  rule: NumberRule;
}
const kFactor: ScalingField = { field: "factor", key: "factor", rule: kPositive };
const kOriginal: ScalingField = {
  field: "originalMaxPositionEmbeddings",
  key: "original_max_position_embeddings",
  rule: { minimum: 1 },
};
const kAttentionFactor: ScalingField = {
  field: "attentionFactor",
  key: "attention_factor",
  rule: { minimum: 0 },
};
const kScalingFields: Readonly<Record<RopeType, readonly ScalingField[]>> = {
  default: [],
  linear: [kFactor],
  ntk: [kFactor],
  dynamic: [kFactor],
  yarn: [
    kFactor,
    kOriginal,
    kAttentionFactor,
    { field: "betaFast", key: "beta_fast", rule: { minimum: 0 } },
    { field: "betaSlow", key: "beta_slow", rule: { minimum: 0 } },
    { field: "mscale", key: "mscale", rule: { minimum: 0 } },
    { field: "mscaleAllDim", key: "mscale_all_dim", rule: { minimum: 0 } },
  ],
  longrope: [kFactor, kOriginal, kAttentionFactor],
  llama3: [
    kFactor,
    kOriginal,
    { field: "lowFreqFactor", key: "low_freq_factor", rule: kPositive },
    { field: "highFreqFactor", key: "high_freq_factor", rule: kPositive },
  ],
  proportional: [kFactor],
};
/** Keys that a scaling object may hold beside the numbers of its type. */
const kBesides = [
  "rope_type",
  "type",
  "rope_theta",
  "partial_rotary_factor",
  "original_max_position_embeddings",
  "truncate",
  "short_factor",
  "long_factor",
  "short_mscale",
  "long_mscale",
  "attn_factor",
  "mrope_section",
  "mrope_interleaved",
  "finetuned",
  "llama_4_scaling_beta",
  "max_position_embeddings",
];

export function neededLength(reader: ConfigReader, what: string): Found<number> {
  return reader.needed(reader.number(maxPositionKeys, kLength), ["max_position_embeddings"], what);
}

/** The scaling's type under its present name. */
export function resolveType(
  reader: ConfigReader,
  family: Family,
  dictionary: string,
  sources: Record<string, string>,
): RopeType {
  const found = reader.text([`${dictionary}.rope_type`, `${dictionary}.type`]);
  if (!found) {
    if (Object.keys(reader.object([dictionary])?.value ?? {}).includes("factor"))
      throw new PosLabError(
        "missing",
        `${reader.shown(dictionary)}.rope_type is missing; a factor alone says no scaling`,
        {
          argument: `${reader.shown(dictionary)}.rope_type`,
        },
      );
    return "default";
  }
  sources["scaling.ropeType"] = found.source;
  if (!reader.has(`${dictionary}.rope_type`))
    reader.caution("old-spelling", `${found.source}: the key is called rope_type today`);
  const renamed = named(family.ropeTypes ?? {}, found.value) ?? named(kOtherNames, found.value);
  if (renamed) {
    if (!["mrope", "none", "no_scaling"].includes(found.value))
      reader.caution("old-spelling", `${found.source}: "${found.value}" is called "${renamed}" today`);
    return renamed;
  }
  const known = kRopeTypes.find((type) => type === found.value);
  if (known === undefined) {
    reader.caution(
      "unknown-rope-type",
      `${found.source}: "${found.value}" is no scaling that is known here (known are ${kRopeTypes.join(", ")}); what follows is without any scaling and will not match the model`,
    );
    return "default";
  }
  if (known === "ntk")
    reader.caution(
      kNtkIsFixed,
      `${found.source}: "ntk" is vLLM's and GTE's, and transformers refuses it; it multiplies theta by the factor and divides every frequency by factor^(2 / rotary width), which is given here as linear. The scheme ntk of this library, theta times factor^(r / (r - 2)), is another`,
    );
  return known;
}

/** M-RoPE: how many pairs turn by the time, the row and the column of a token. */
export function resolveSections(
  reader: ConfigReader,
  family: Family,
  dictionary: string | undefined,
  rotaryDim: number,
  sources: Record<string, string>,
): Pick<Rope, "sections" | "sectionOrder"> {
  const own = family.sections;
  const given =
    dictionary === undefined ? undefined : reader.numbers([`${dictionary}.mrope_section`], { minimum: 0, whole: true });
  const fits = own?.pairs.reduce((sum, pairs) => sum + pairs, 0) === rotaryDim / 2;
  const sections = given ?? (own && fits ? { value: [...own.pairs], source: `family ${family.names[0]}` } : undefined);
  if (!sections) return {};
  const pairs = sections.value.reduce((sum, section) => sum + section, 0);
  if (2 * pairs !== rotaryDim)
    throw wrongArgument(
      "contradiction",
      sections.source,
      sections.value,
      `in all ${rotaryDim / 2} pairs, as many as turn,`,
    );
  const interleaved = dictionary === undefined ? undefined : reader.boolean([`${dictionary}.mrope_interleaved`]);
  const isInterleaved = own ? own.order === "interleaved" : (interleaved?.value ?? false);
  if (own && interleaved && interleaved.value !== isInterleaved)
    reader.caution(
      "mrope-order",
      `${interleaved.source} is ${interleaved.value}; the class of ${family.names[0]} does not read it, and has its sections ${isInterleaved ? "interleaved" : "one after the other"}`,
    );
  reader.caution(
    "mrope-sections",
    `${sections.source} ${JSON.stringify(sections.value)}: pairs of lanes take time, height and width positions, ${isInterleaved ? "interleaved" : "in contiguous sections"}; for text alone all three are equal`,
  );
  sources.sections = sections.source;
  if (own) sources.sectionOrder = `family ${family.names[0]}`;
  else if (interleaved) sources.sectionOrder = interleaved.source;
  return { sections: sections.value, sectionOrder: isInterleaved ? "interleaved" : "contiguous" };
}

/** The numbers that a scaling of this type has. */
export function resolveScaling(
  reader: ConfigReader,
  dictionary: string,
  type: RopeType,
  rotaryDim: number,
  sources: Record<string, string>,
): RopeScaling {
  const scaling: RopeScaling = { ropeType: type };
  for (const { field, key, rule } of kScalingFields[type]) {
    // transformers lets a top-level original length win over the nested one.
    const keys = field === "originalMaxPositionEmbeddings" ? [key, `${dictionary}.${key}`] : [`${dictionary}.${key}`];
    const found = reader.number(keys, rule);
    if (!found) continue;
    Object.assign(scaling, { [field]: found.value });
    sources[`scaling.${field}`] = found.source;
  }
  if (type === "yarn") {
    const truncate = reader.boolean([`${dictionary}.truncate`]);
    if (truncate) {
      scaling.truncate = truncate.value;
      sources["scaling.truncate"] = truncate.source;
    }
  }
  if (type === "longrope") {
    for (const [field, key] of [
      ["shortFactor", "short_factor"],
      ["longFactor", "long_factor"],
    ] as const) {
      const list = reader.needed(
        reader.numbers([`${dictionary}.${key}`], kPositive),
        [`${dictionary}.${key}`],
        `a list of ${rotaryDim / 2} numbers`,
      );
      if (list.value.length !== rotaryDim / 2)
        throw wrongArgument("shape", list.source, list.value.length, `${rotaryDim / 2} numbers, one a pair of lanes,`);
      scaling[field] = list.value;
      sources[`scaling.${field}`] = list.source;
    }
  }
  fillLengths(reader, dictionary, scaling, sources);
  cautionAbout(reader, dictionary, scaling);
  return scaling;
}

/** What follows from other numbers: the original length from the longest, the factor from the ratio of the two. */
function fillLengths(
  reader: ConfigReader,
  dictionary: string,
  scaling: RopeScaling,
  sources: Record<string, string>,
): void {
  const { ropeType } = scaling;
  const hasOriginal = ropeType === "yarn" || ropeType === "longrope" || ropeType === "llama3";
  if (hasOriginal && scaling.originalMaxPositionEmbeddings === undefined) {
    const longest = neededLength(reader, "the length that the model was trained with");
    scaling.originalMaxPositionEmbeddings = longest.value;
    sources["scaling.originalMaxPositionEmbeddings"] = `${longest.source}, for want of an original length`;
    reader.caution(
      "original-by-default",
      `${reader.shown(dictionary)} has no original_max_position_embeddings; ${longest.source} (${longest.value}) is taken for it, as transformers does`,
    );
  }
  if (scaling.factor === undefined && (ropeType === "yarn" || ropeType === "longrope")) {
    const longest = neededLength(reader, "the extended length, as long as there is no factor,");
    scaling.factor = longest.value / scaling.originalMaxPositionEmbeddings!;
    sources["scaling.factor"] = `${longest.source} / ${sources["scaling.originalMaxPositionEmbeddings"]}`;
  }
  const required: readonly (keyof RopeScaling)[] =
    ropeType === "llama3"
      ? ["factor", "lowFreqFactor", "highFreqFactor"]
      : ropeType === "linear" || ropeType === "ntk" || ropeType === "dynamic"
        ? ["factor"]
        : [];
  for (const field of required) {
    const { key } = kScalingFields[ropeType].find((entry) => entry.field === field)!;
    if (scaling[field] === undefined)
      throw new PosLabError(
        "missing",
        `${reader.shown(`${dictionary}.${key}`)} is missing; ${ropeType} scaling needs it`,
        { argument: reader.shown(`${dictionary}.${key}`) },
      );
  }
}

function cautionAbout(reader: ConfigReader, dictionary: string, scaling: RopeScaling): void {
  const { ropeType, factor, originalMaxPositionEmbeddings: original } = scaling;
  const name = (key: string): string => reader.shown(`${dictionary}.${key}`);
  const longest = reader.number(maxPositionKeys, kLength);
  if (factor !== undefined && factor < 1)
    reader.caution("factor-below-one", `${name("factor")} is ${factor}; a factor below 1 makes texts shorter`);
  if (ropeType === "yarn" && longest && original && factor !== undefined) {
    const ratio = longest.value / original;
    if (ratio !== 1 && Math.abs(ratio - factor) > 1e-6 * factor)
      reader.caution(
        "factor-is-not-the-ratio",
        `${name("factor")} is ${factor}, but ${longest.source} / original length is ${longest.value} / ${original} = ${ratio}; the factor is taken`,
      );
  }
  if (ropeType === "llama3" && scaling.highFreqFactor! < scaling.lowFreqFactor!)
    throw wrongArgument(
      "contradiction",
      name("high_freq_factor"),
      scaling.highFreqFactor,
      `at least low_freq_factor, ${scaling.lowFreqFactor},`,
    );
  if (scaling.betaFast && scaling.betaSlow && scaling.betaFast < scaling.betaSlow)
    throw wrongArgument(
      "contradiction",
      name("beta_fast"),
      scaling.betaFast,
      `at least beta_slow, ${scaling.betaSlow},`,
    );
  if (!scaling.mscale !== !scaling.mscaleAllDim) {
    delete scaling.mscale;
    delete scaling.mscaleAllDim;
    reader.caution(
      "half-a-pair",
      `${name("mscale")} and ${name("mscale_all_dim")} change cos and sin only where both are there and not 0`,
    );
  }
  const attnFactor = reader.number([`${dictionary}.attn_factor`], { minimum: 0 });
  if (attnFactor && factor !== undefined) {
    const own = scaling.attentionFactor ?? 0.1 * Math.log(Math.max(factor, 1)) + 1;
    reader.caution(
      "attn-factor",
      `${attnFactor.source} is ${attnFactor.value}: vLLM, SGLang and ggml multiply it to yarn's own magnitude (${(own * attnFactor.value).toPrecision(6)}), transformers does not read it (${own.toPrecision(6)}), and some files mean the final size (${attnFactor.value}); here it is not read: say which is meant as attention_factor`,
    );
  }
  for (const key of ["short_mscale", "long_mscale"]) {
    const mscale = reader.number([`${dictionary}.${key}`], { minimum: 0 });
    if (mscale)
      reader.caution(
        "own-mscale",
        `${mscale.source} is ${mscale.value}: the model's own code makes cos and sin that large; transformers' common code computes the size from the lengths, which is what is given here`,
      );
  }
  const known = [...kBesides, ...kScalingFields[ropeType].map(({ key }) => key)];
  const unknown = Object.keys(reader.object([dictionary])?.value ?? {}).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    reader.caution(
      "unknown-key",
      `${reader.shown(dictionary)} has ${unknown.join(", ")}, which ${ropeType} scaling does not read`,
    );
}
