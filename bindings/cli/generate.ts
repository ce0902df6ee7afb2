// SPDX-License-Identifier: MIT
// `poslab generate`: a model goes on with a text. The text alone goes to standard output, as it comes.

import { exitStatus } from "./failure.js";
import { listenForInterruption } from "./interruption.js";
import { type ModelOptions, openForCommand } from "./model-opening.js";
import { checkOverride, readOverride } from "./override-option.js";

export interface GenerateCommandOptions extends ModelOptions {
  prompt?: string;
  tokens: number;
  temperature: number;
  topP: number;
  seed: number;
  override?: string;
}

export async function generate(path: string, options: GenerateCommandOptions): Promise<number> {
  const override = readOverride(options.override);
  const interruption = listenForInterruption(
    () => {},
    () => {},
  );
  const model = await openForCommand(path, options, interruption.signal);
  checkOverride(model, override);
  const { prompt, tokens, temperature, topP, seed } = options;
  if (!model.info.architecture.encoder) process.stdout.write(prompt ?? "");
  const { ended } = await model.generate({
    ...(prompt === undefined ? {} : { prompt }),
    tokens,
    temperature,
    topP,
    seed,
    override,
    signal: interruption.signal,
    onText: (piece) => process.stdout.write(piece),
  });
  // In a terminal the prompt of the shell wants a line of its own; a file or a pipe gets the text and nothing more.
  if (process.stdout.isTTY) process.stdout.write("\n");
  model.dispose();
  interruption.stopListening();
  return ended === "aborted" ? exitStatus.interrupted : exitStatus.done;
}
