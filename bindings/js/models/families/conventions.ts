// SPDX-License-Identifier: MIT
// How positions work in a checkpoint: what the config explainer says, as stacks need it. Nothing about positions is
// decided here, but where GGUF files keep divisors of the frequencies in tensors, which no config says.

import { type ConfigExplanation, explainConfig, type LayerExplanation } from "../../config.js";
import { PosLabError } from "../../errors.js";
import type { Position, RopeScaling } from "../../types.js";
import type { Stack } from "../model-description.js";

export interface Conventions {
  /** scheme and window of each layer of a stack */ of(
    layers: number,
    part?: "encoder" | "decoder",
  ): Pick<Stack, "position" | "window">;
  /** tokens that the config promises; null: it states no limit */ usableLength: number | null;
  cautions: readonly string[];
}

/** What GGUF's own files add to their metadata. */
export interface FrequencyFactors {
  short: readonly number[];
  long: readonly number[];
  /** size of cos and sin; undefined: by the length, as LongRoPE has it */ attentionFactor?: number;
  originalLength?: number;
}

/** @throws PosLabError that names the key at fault, or what no stack here does */
export function conventionsOf(config: object, factors: FrequencyFactors | null): Conventions {
  const explanation = explainConfig(config);
  return {
    of: (layers, part) => stackPositions(explanation, factors, layers, part),
    usableLength: explanation.usableLength,
    // The type is known here, or the model would have been refused by its name.
    cautions: explanation.cautions.flatMap(({ code, message }) => (code === "unknown-model-type" ? [] : [message])),
  };
}

function stackPositions(
  { layers: kinds, layerTypes }: ConfigExplanation,
  factors: FrequencyFactors | null,
  layers: number,
  part?: "encoder" | "decoder",
): Pick<Stack, "position" | "window"> {
  const names = Object.keys(kinds);
  const only = part && names.includes(part) ? part : names[0]!;
  const each = Array.from({ length: layerTypes ? layers : 1 }, (_, layer) => {
    const name = layerTypes?.[layer] ?? only;
    const explained = kinds[name] ?? kinds[only]!;
    if (explained.logitTemperature)
      throw new PosLabError(
        "notDefined",
        "config: a temperature of the logits that grows with the position is not supported",
        {
          argument: "config",
        },
      );
    return { position: withFactors(explained, factors), window: explained.window };
  });
  const [first] = each;
  if (!layerTypes) return { position: first!.position, window: first!.window };
  return { position: each.map(({ position }) => position), window: each.map(({ window }) => window) };
}

function withFactors({ position }: LayerExplanation, factors: FrequencyFactors | null): Position {
  if (position.type !== "rope" || !factors) return position;
  const scaling: RopeScaling = {
    ropeType: "longrope",
    shortFactor: factors.short,
    longFactor: factors.long,
    ...(factors.attentionFactor === undefined ? {} : { attentionFactor: factors.attentionFactor }),
    ...(factors.originalLength === undefined ? {} : { originalMaxPositionEmbeddings: factors.originalLength }),
  };
  return { ...position, scaling };
}
