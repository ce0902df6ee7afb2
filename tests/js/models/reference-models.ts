// SPDX-License-Identifier: MIT
// The tiny checkpoints of the shared data as architectures and canonical tensors, each spelled out by hand: what the
// engine is tested with, independent of the package's own tables of families.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "../../../bindings/js/models/model-description.js";
import { readSafetensors } from "../../../bindings/js/safetensors.js";
import { bloom, gpt2, gptNeox, llama, palm, transformerXl } from "./reference-decoders.js";
import { bert, marian, t5, vit } from "./reference-encoders.js";
import { type Config, Loader, type Matrix, type Tensors } from "./reference-loader.js";

export interface ReferenceModel {
  architecture: Architecture;
  tensors: Tensors;
  reference: (name: string) => Float64Array | null;
}

const families: Record<string, (config: Config, load: Loader) => Architecture> = {
  llama,
  gpt2,
  gpt_neox: gptNeox,
  bloom,
  palm,
  bert,
  t5,
  marian,
  vit,
  "transfo-xl": transformerXl,
};

export function referenceModel(folder: string): ReferenceModel {
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Config;
  const stored = readSafetensors(readFileSync(join(folder, "model.safetensors"))).tensors;
  const load = new Loader(stored as unknown as Map<string, Matrix>);
  const architecture = families[String(config.model_type)]!(config, load);
  const { tensors } = readSafetensors(readFileSync(join(folder, "reference.safetensors")));
  return {
    architecture,
    tensors: load.tensors,
    reference: (name) => {
      const tensor = tensors.get(name);
      return tensor ? Float64Array.from(tensor.data as ArrayLike<number>, Number) : null;
    },
  };
}

/** The shape of a tensor of reference.safetensors. */
export function referenceShape(folder: string, name: string): number[] {
  const { tensors } = readSafetensors(readFileSync(join(folder, "reference.safetensors")));
  return tensors.get(name)!.shape;
}
