// SPDX-License-Identifier: MIT
// Weights that an experiment of this package has saved: their names are the canonical ones already, and the file's
// metadata says what the experiment was.

import { PosLabError } from "../../errors.js";
import type { ActivationName, Architecture } from "../model-description.js";
import type { ExperimentModel, Position } from "../../types.js";

const activations: Record<string, ActivationName> = { gelu: "gelu-tanh", relu: "relu", silu: "silu" };

/** The epsilon of the lab's norms. */
const epsilon = 1e-5;

export function readExperimentModel(text: string): ExperimentModel {
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch {
    saved = null;
  }
  const candidate = saved as Partial<ExperimentModel> | null;
  if (!candidate?.model || !candidate.encoding || !Number.isSafeInteger(candidate.vocabulary))
    throw new PosLabError("format", "safetensors: the metadata poslab.model is damaged", { argument: "poslab.model" });
  return candidate as ExperimentModel;
}

export function experimentArchitecture(
  { model, vocabulary, length, encoding }: ExperimentModel,
  rowsOf: (name: string) => number | undefined,
): Architecture {
  const { label: _, ...scheme } = encoding;
  const rows = rowsOf("position.table");
  const position = (scheme.type === "learned" && rows ? { ...scheme, rows } : scheme) as Position;
  return {
    dim: model.dim,
    vocabulary,
    trainedLength: length,
    decoder: {
      layers: model.layers,
      heads: model.heads,
      keyValueHeads: model.keyValueHeads,
      feedForward: model.feedForward,
      causal: true,
      position,
      norm: {
        kind: model.norm,
        place: model.normPlacement,
        epsilon,
        bias: model.norm === "layer" && (model.bias ?? true),
      },
      parallel: model.parallel ? "one-norm" : false,
      activation: activations[model.activation] ?? "gelu-tanh",
      gated: model.gated,
      sinks: model.sinks ?? "none",
      // Unless the experiment said otherwise, the feed-forward part has biases and attention none.
      bias: model.bias ?? { gate: true, in: true, out: true },
    },
    head: { outputs: vocabulary, tied: model.tied },
  };
}
