// SPDX-License-Identifier: MIT
// What the tests of configs ask of an explanation.

import { expect } from "vitest";
import { type ConfigExplanation, explainConfig, type LayerExplanation } from "../../bindings/js/config.js";
import { PosLabError } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

export const lab = await sharedLab();
export const llama = { model_type: "llama", hidden_size: 256, num_attention_heads: 2, max_position_embeddings: 2048 };

export const all = (config: unknown, options = {}): LayerExplanation =>
  explainConfig(config, { lab, ...options }).layers.all!;
export const codes = ({ cautions }: ConfigExplanation): string[] => cautions.map(({ code }) => code);
export const refusal = (config: unknown): PosLabError => {
  try {
    explainConfig(config, { lab });
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    return error as PosLabError;
  }
  throw new Error("the config was accepted");
};
