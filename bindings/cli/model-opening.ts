// SPDX-License-Identifier: MIT
// How the commands on models open one: options in, messages with the option's or the file's name out.

import { type Model, openModel, type OpenModelOptions, type OpenModelProgress } from "../js/models.js";
import { describeBytes } from "./byte-count.js";
import { fileProblem, Refusal } from "./failure.js";

export interface ModelOptions {
  config?: string;
  tokenizer?: string;
  quiet?: boolean;
}

/** The options of `openModel` that the command line has. */
export function openingOptions({ config, tokenizer }: ModelOptions): OpenModelOptions {
  return { ...(config === undefined ? {} : { config }), ...(tokenizer === undefined ? {} : { tokenizer }) };
}

/** Opens a model and says on standard error what it will take, before it takes it. */
export async function openForCommand(path: string, options: ModelOptions, signal?: AbortSignal): Promise<Model> {
  return openModel(path, {
    ...openingOptions(options),
    ...(signal ? { signal } : {}),
    ...(options.quiet ? {} : { onProgress: announce() }),
  });
}

/** Larger models say how far reading is, at every tenth. */
const slowToRead = 2 ** 27;

function announce(): (progress: OpenModelProgress) => void {
  let tenth = 0;
  return ({ info, bytes, totalBytes }) => {
    const { memory, modelType } = info;
    if (bytes === 0) {
      for (const caution of info.cautions) process.stderr.write(`caution: ${caution}\n`);
      const pass = `${describeBytes(memory.pass)} for a pass over ${memory.length} tokens`;
      process.stderr.write(`${modelType}: ${describeBytes(memory.weights)} for the weights, ${pass}\n`);
    }
    const now = Math.floor((10 * bytes) / totalBytes);
    if (totalBytes >= slowToRead && now > tenth) process.stderr.write(`read ${10 * (tenth = now)} %\n`);
  };
}

/** A text for a model, UTF-8. */
export function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Refusal(`option '--text': ${path} is not UTF-8 text: ${fileProblem(error)}`);
  }
}
