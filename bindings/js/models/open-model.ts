// SPDX-License-Identifier: MIT
// Opens a model: finds out what the files are, says what it would take, then reads tensor by tensor.

import { PosLabError } from "../errors.js";
import { checkOptions } from "../tensors.js";
import type { FileLike } from "../byte-source.js";
import { startModelsCore } from "../module.js";
import { CoreModel } from "./core-model.js";
import { recognize, type Recognized } from "./families/index.js";
import type { LoadingStep } from "./families/tensor-plan.js";
import { loadTensors } from "./loading.js";
import { type GenerationFacts, Model } from "./model.js";
import { type ModelFiles, openModelFiles } from "./model-files.js";
import { cautionsOf, countParameters, countTypes, memoryLimit, type ModelInfo, lengthLimitOf } from "./model-info.js";
import { ggufTokenizer } from "./tokenizers/gguf-tokenizer.js";
import { llama2cTokenizer } from "./tokenizers/llama2c-tokenizer.js";
import { byteTokenizer, type ModelTokenizer, symbolTokenizer, tokenizerFromJson } from "./tokenizers/tokenizer.js";

export interface OpenModelProgress {
  /** what was found, memory included: first heard before anything of the weights is read */ info: ModelInfo;
  bytes: number;
  totalBytes: number;
}

export interface OpenModelOptions {
  /** config.json, as a file or an object; default: the one among or beside the files */ config?: FileLike | object;
  /** tokenizer.json or llama2.c's tokenizer.bin; default: the one among, beside or inside the files */ tokenizer?:
    FileLike | object;
  /** tokens of one pass, for the estimate of memory; default: the trained length */ length?: number;
  signal?: AbortSignal;
  onProgress?: (progress: OpenModelProgress) => void;
}

interface Prepared {
  files: ModelFiles;
  recognized: Recognized;
  tokenizer: ModelTokenizer;
  calls: CoreModel;
  steps: LoadingStep[];
  info: ModelInfo;
}

const optionNames = ["config", "tokenizer", "length", "signal", "onProgress"] as const;

/**
 * Opens a model from a path (a file, or a folder with one model), or from Files, Blobs, bytes or range readers.
 * @throws PosLabError that names the file, the field or the tensors at fault; `memory` before anything is read when the
 * model does not fit into 4 GiB.
 */
export async function openModel(files: FileLike | readonly FileLike[], options: OpenModelOptions = {}): Promise<Model> {
  const { files: found, recognized, tokenizer, calls, steps, info } = await prepare(files, options);
  try {
    checkMemory(info);
    options.onProgress?.({ info, bytes: 0, totalBytes: found.size });
    await loadTensors(calls, steps, {
      signal: options.signal,
      onProgress: ({ bytes, totalBytes }) => options.onProgress?.({ info, bytes, totalBytes }),
    });
    return new Model(calls, info, tokenizer, generationFacts(found, recognized));
  } catch (error) {
    calls.dispose();
    throw error;
  } finally {
    await found.close();
  }
}

/** What a model is, without reading its weights. */
export async function inspectModel(
  files: FileLike | readonly FileLike[],
  options: OpenModelOptions = {},
): Promise<ModelInfo> {
  const { files: found, calls, info } = await prepare(files, options);
  calls.dispose();
  await found.close();
  return info;
}

async function prepare(given: FileLike | readonly FileLike[], options: OpenModelOptions): Promise<Prepared> {
  checkOptions(options, optionNames);
  const files = await openModelFiles(
    { files: given, config: options.config, tokenizer: options.tokenizer },
    options.signal,
  );
  let calls: CoreModel | undefined;
  try {
    const recognized = await recognize(files.weights, files.config, options.signal);
    const { architecture } = recognized;
    const { tokenizer, caution } = tokenizerOf(files, recognized);
    const core = await startModelsCore();
    calls = CoreModel.create(core, architecture);
    const steps = recognized.plan(calls.tensors);
    const length = options.length ?? (architecture.trainedLength || 512);
    const info: ModelInfo = {
      format: files.weights.format,
      modelType: recognized.modelType,
      about: recognized.about,
      architecture,
      parameters: countParameters(steps),
      types: countTypes(files.weights),
      fileBytes: files.size,
      trainedLength: architecture.trainedLength,
      usableLength: recognized.usableLength,
      lengthLimit: lengthLimitOf(architecture),
      memory: { ...CoreModel.estimate(core, architecture, length), length, limit: memoryLimit },
      tokenizer: { source: tokenizer.source, vocabulary: tokenizer.vocabulary },
      cautions: [...cautionsOf(recognized, tokenizer), ...(caution ? [caution] : [])],
    };
    return { files, recognized, tokenizer, calls, steps, info };
  } catch (error) {
    calls?.dispose();
    await files.close();
    throw error;
  }
}

function checkMemory({ memory: { weights, limit } }: ModelInfo): void {
  if (weights <= limit) return;
  const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw new PosLabError(
    "memory",
    `the weights would take ${gibibytes(weights)} as float32; ${gibibytes(limit)} can be addressed`,
    {
      argument: "files",
      given: weights,
    },
  );
}

/** A given tokenizer must fit; one that merely lies beside the weights may be left out with a caution. */
function tokenizerOf(
  files: ModelFiles,
  { architecture, config, experiment }: Recognized,
): { tokenizer: ModelTokenizer; caution?: string } {
  const bytes = byteTokenizer(architecture.vocabulary);
  if (experiment) return { tokenizer: symbolTokenizer(experiment.symbols, experiment.unit, architecture.vocabulary) };
  try {
    if (files.tokenizer !== null)
      return {
        tokenizer: tokenizerFromJson(files.tokenizer, files.tokenizerConfig, {
          source: "tokenizer.json",
          ...idsIn(files.generationConfig ?? config.json),
        }),
      };
    if (files.pieces) return { tokenizer: llama2cTokenizer(files.pieces, architecture.vocabulary) };
  } catch (error) {
    if (!(error instanceof PosLabError)) throw error;
    return { tokenizer: bytes, caution: error.message };
  }
  const { tokenizer, caution } = ggufTokenizer(files.weights.metadata);
  return { tokenizer: tokenizer ?? bytes, ...(caution ? { caution } : {}) };
}

/** Begin and end by the config, where it says them. */
function idsIn(json: unknown): { bos?: number; eos?: number[] } {
  const { bos_token_id: bos, eos_token_id: eos } = json as { bos_token_id?: unknown; eos_token_id?: unknown };
  const ends = (Array.isArray(eos) ? eos : [eos]).filter((id): id is number => Number.isSafeInteger(id));
  return { ...(typeof bos === "number" ? { bos } : {}), ...(ends.length > 0 ? { eos: ends } : {}) };
}

function generationFacts({ generationConfig }: ModelFiles, { config }: Recognized): GenerationFacts {
  const start =
    (generationConfig as { decoder_start_token_id?: unknown } | null)?.decoder_start_token_id ??
    config.value("decoder_start_token_id");
  return { decoderStart: typeof start === "number" ? start : null, ends: idsIn(config.json).eos ?? [] };
}
