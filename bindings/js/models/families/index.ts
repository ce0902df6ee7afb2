// SPDX-License-Identifier: MIT
// The table of families, and the way from a config and files to what is to be loaded.

import { PosLabError } from "../../errors.js";
import { nearestName } from "../../tensors.js";
import type { Architecture, TensorPlace } from "../model-description.js";
import type { ExperimentModel } from "../../types.js";
import type { ModelFile } from "../stored-tensor.js";
import { Config } from "./config.js";
import { type Conventions, conventionsOf } from "./conventions.js";
import { encoderDecoders } from "./encoder-decoders.js";
import { encoders } from "./encoders.js";
import { experimentArchitecture, readExperimentModel } from "./experiment-weights.js";
import type { Family, FamilyInput } from "./family.js";
import { type GgufConfig, ggufConfig, ggufIgnored } from "./gguf-metadata.js";
import { gptShaped } from "./gpt-shaped.js";
import { llamaShaped } from "./llama-shaped.js";
import { others } from "./others.js";
import { type LoadingStep, planLoading } from "./tensor-plan.js";

export const families: readonly Family[] = [...llamaShaped, ...gptShaped, ...encoders, ...encoderDecoders, ...others];

/** Values of model_type that are supported. */
export const modelTypes: readonly string[] = families.flatMap(({ types }) => types);

/** A checkpoint that has been recognised. */
export interface Recognized {
  modelType: string;
  about: string;
  architecture: Architecture;
  /** the config, or what GGUF's metadata or an experiment say in its place */ config: Config;
  experiment: ExperimentModel | null;
  /** tokens that the config promises; null: it states no limit */ usableLength: number | null;
  /** about positions */ cautions: readonly string[];
  /** @throws PosLabError (shape) that names every tensor that does not fit */
  plan(wanted: readonly TensorPlace[]): LoadingStep[];
}

/** @param configJson of a config.json; null where the file itself says what it is */
export async function recognize(file: ModelFile, configJson: unknown, signal?: AbortSignal): Promise<Recognized> {
  const saved = file.metadata.get("poslab.model");
  if (configJson === null && typeof saved === "string") return recognizeExperiment(file, saved);
  if (configJson === null && file.format !== "safetensors") return recognizeGguf(file, signal);
  if (configJson === null)
    throw new PosLabError("missing", "config.json is missing: safetensors say nothing of the architecture", {
      argument: "config",
    });
  const config = new Config(configJson);
  return recognizeFamily({
    file,
    config,
    family: familyOf(config),
    conventions: conventionsOf(config.json, null),
    gguf: null,
  });
}

function recognizeExperiment(file: ModelFile, saved: string): Recognized {
  const experiment = readExperimentModel(saved);
  const architecture = experimentArchitecture(experiment, (name) => file.tensors.get(name)?.shape[0]);
  return {
    modelType: "poslab",
    about: "a small transformer that an experiment of PosLab trained",
    architecture,
    config: new Config({}, "poslab.model"),
    experiment,
    usableLength: null,
    cautions: [],
    plan: (wanted) => planLoading({ wanted, file, places: null, prefix: "", ignored: undefined, architecture }),
  };
}

async function recognizeGguf(file: ModelFile, signal?: AbortSignal): Promise<Recognized> {
  const gguf = await ggufConfig(file, signal);
  const config = new Config(gguf.json, file.format === "gguf" ? "GGUF metadata" : "llama2.c header");
  const conventions = conventionsOf(gguf.explained, gguf.factors);
  return recognizeFamily({ file, config, family: familyOf(config), conventions, gguf });
}

interface FamilyRow {
  file: ModelFile;
  config: Config;
  family: Family;
  conventions: Conventions;
  gguf: GgufConfig | null;
}

function recognizeFamily({ file, config, family, conventions, gguf }: FamilyRow): Recognized {
  const prefix = gguf ? "" : (family.prefix ?? "");
  const find = (name: string): readonly number[] | undefined =>
    (file.tensors.get(prefix + name) ?? file.tensors.get(name))?.shape;
  const input: FamilyInput = {
    config,
    conventions,
    // GGUF calls every head "output".
    has: gguf ? (name) => gguf.hasHead && /^(lm_head|embed_out)\./.test(name) : (name) => find(name) !== undefined,
    shapeOf: find,
  };
  const architecture = family.architecture(input);
  const places = gguf?.places ?? (typeof family.places === "function" ? family.places(input) : family.places);
  const ignored = gguf ? ggufIgnored : family.ignored;
  return {
    modelType: config.text("", "model_type"),
    about: family.about,
    architecture,
    config,
    experiment: null,
    usableLength: conventions.usableLength,
    cautions: conventions.cautions,
    plan: (wanted) => planLoading({ wanted, file, places, prefix, ignored, architecture }),
  };
}

/** @throws PosLabError (notDefined) that names a model type which is not supported */
function familyOf(config: Config): Family {
  const type = config.text("", "model_type");
  const family = families.find(({ types }) => types.includes(type));
  if (family) return family;
  if (type === "")
    throw new PosLabError("missing", `${config.name}: model_type is missing; it says what architecture this is`, {
      argument: "model_type",
    });
  const near = nearestName(type, modelTypes);
  throw new PosLabError(
    "notDefined",
    `the model type "${type}" is not supported${near ? `; the nearest that is: "${near}"` : ""}; supported are ${modelTypes.join(", ")}`,
    { argument: "model_type", given: type, ...(near ? { suggestion: near } : {}) },
  );
}
