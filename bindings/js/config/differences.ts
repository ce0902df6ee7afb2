// SPDX-License-Identifier: MIT
// What other programs do differently with the same config, as far as it is known: read in their source, or reported in
// public and checked. One row a difference.

import type { Rope } from "../types.js";
import { kNtkIsFixed } from "./rope-scaling.js";
import type { Caution, Difference, LayerExplanation } from "./types.js";

interface Row extends Difference {
  /** `cautions` are their codes */
  when: (layer: LayerExplanation, rope: Rope | undefined, modelType: string, cautions: readonly string[]) => boolean;
}

/** Models whose q and k rows are put into another order on the way to GGUF. */
const kPermuted = [
  "llama",
  "mistral",
  "mixtral",
  "baichuan",
  "minicpm",
  "xverse",
  "internlm2",
  "olmo",
  "granite",
  "granitemoe",
  "smollm3",
];

const scalesBy =
  (...types: string[]) =>
  (_: LayerExplanation, rope: Rope | undefined): boolean =>
    types.includes(rope?.scaling?.ropeType ?? "");

const kRows: readonly Row[] = [
  {
    software: "llama.cpp",
    when: (_, rope, modelType) => rope?.layout === "half" && kPermuted.includes(modelType),
    message: "the GGUF form of this model has its q and k rows permuted, and adjacent lanes pair (interleaved)",
  },
  {
    software: "llama.cpp",
    when: (layer, rope, _, cautions) => scalesBy("dynamic")(layer, rope) || cautions.includes(kNtkIsFixed),
    message: "has no such scaling: the frequencies stay those of theta",
  },
  {
    software: "vLLM",
    when: scalesBy("dynamic"),
    message: "computes theta once, for factor times the trained length, instead of for the running length",
  },
  {
    software: "transformers",
    when: scalesBy("dynamic"),
    message:
      "keeps the longest call's frequencies until a call falls below the trained length; keys that a cache holds were rotated with earlier ones",
  },
  {
    software: "vLLM",
    when: scalesBy("linear", "dynamic", "yarn"),
    message: "multiplies the longest text by the factor (for yarn: the original length), whatever the config says",
  },
  {
    software: "llama.cpp",
    when: (_, rope) => rope?.scaling?.ropeType === "yarn" && rope.scaling.truncate === false,
    message: "rounds yarn's correction range to whole pairs, as truncate: true does",
  },
  {
    software: "llama.cpp",
    when: scalesBy("yarn"),
    message:
      "multiplies its attn_factor to the built-in magnitude 1 + 0.1 ln(factor); converters divide it out beforehand",
  },
  {
    software: "transformers 4",
    when: scalesBy("yarn"),
    message:
      "in older versions took max_position_embeddings for the original length, and knew neither mscale nor truncate",
  },
  {
    software: "transformers 4",
    when: scalesBy("longrope"),
    message: "chose the long or the short list from the config's sizes instead of the running length",
  },
  {
    software: "vLLM",
    when: scalesBy("longrope"),
    message: "chooses the long or the short list once, by the longest text that it serves",
  },
  {
    software: "llama.cpp",
    when: scalesBy("longrope"),
    message: "chooses the long or the short list once, by the size of its context",
  },
  {
    software: "transformers 4",
    when: (layer) => layer.window !== null && layer.causal,
    message:
      "in older versions with flash-attention passed the window on as it is, and saw one key more than the eager code",
  },
  {
    software: "llama.cpp",
    when: ({ position }) => position.type === "t5" && (position.maxDistance ?? 128) !== 128,
    message: "has the largest distance 128 built in",
  },
  {
    software: "transformers",
    when: ({ position, positionIds }) => position.type === "alibi" && positionIds.policy === "mask",
    message:
      "adds slope times the key's index (padding left out) instead of minus slope times the distance: the same after the softmax but for rounding, which bfloat16 makes visible",
  },
];

export function differencesFor(
  modelType: string,
  layers: readonly LayerExplanation[],
  cautions: readonly Caution[],
): Difference[] {
  const codes = cautions.map(({ code }) => code);
  const ropeOf = ({ position }: LayerExplanation): Rope | undefined =>
    position.type === "rope" ? position : undefined;
  return kRows
    .filter(({ when }) => layers.some((layer) => when(layer, ropeOf(layer), modelType, codes)))
    .map(({ software, message }) => ({ software, message }));
}
