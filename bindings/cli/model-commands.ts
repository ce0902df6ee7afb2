// SPDX-License-Identifier: MIT
// The commands on whole models: their options and help.

import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, finiteNumber, wholeNumber, wholeNumbers } from "./arguments.js";

type Run = (work: () => Promise<number>) => Promise<void>;
type Example = (...lines: string[]) => string;

const kinds =
  "yarn:4, linear:4, ntk:4, dynamic:4 (a scaling and its factor), theta:N, window:N, shift:N, layout:interleaved, none, " +
  "a scheme's name, or a JSON scheme object; several with + between them";

export function addModelCommands(program: Command, run: Run, example: Example): void {
  addOpening(program.command("model"))
    .description(
      "what a checkpoint is: architecture, positions, usable length, memory, cautions; its weights are not read",
    )
    .option("--check", "run reference.safetensors beside the weights and compare logits and attention")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `${example("poslab model llama-3.2-1b", "poslab model model.gguf", "poslab model checkpoint --config config.v4.json --check")}

Exit status:
  0    done; with --check, every tensor agrees
  1    with --check, a tensor does not agree
  2    could not be done as asked`,
    )
    .action((path: string, options) => run(async () => (await import("./model.js")).model(path, options)));
  addPerplexity(program, run, example);
  addGenerate(program, run, example);
}

/** What all three have in common. */
function addOpening(command: Command): Command {
  return command
    .argument(
      "<model>",
      "a folder, or a file: safetensors (config.json beside it), GGUF, llama2.c .bin, weights of extrapolate --save",
    )
    .optionsGroup("Model:")
    .option("--config <file>", "take this config.json")
    .option("--tokenizer <file>", "take this tokenizer.json, or llama2.c's tokenizer.bin")
    .optionsGroup("Options:");
}

function addPerplexity(program: Command, run: Run, example: Example): void {
  addOpening(program.command("perplexity"))
    .description("the loss of a causal model on a text at several lengths, as trained and with other positions")
    .requiredOption("--text <file>", "the text (UTF-8)")
    .addOption(
      new Option(
        "--lengths <list>",
        "lengths of windows in tokens (default: trained, 2 and 4 times as long)",
      ).argParser(wholeNumbers(2)),
    )
    .addOption(
      new Option("--override <kind>", `positions otherwise than trained; may be repeated: ${kinds}`).argParser(
        collect((text) => text),
      ),
    )
    .addOption(
      new Option("--windows <n>", "windows of the longest length; shorter ones take the same tokens")
        .argParser(wholeNumber(1))
        .default(8),
    )
    .addOption(
      new Option("--stride <n>", "tokens from one window to the next (default: the window)").argParser(wholeNumber(1)),
    )
    .option("--documents", "measure each document on its own, cut at the length")
    .option("--separator <text>", "what stands between documents", "<|endoftext|>")
    .optionsGroup("Output:")
    .option("--json", "print JSON, loss by position included")
    .option("--csv <file>", "write the loss by position as CSV")
    .option("--svg <file>", "write the loss by position as a chart, one curve an override")
    .option("--quiet", "no notices")
    .addHelpText(
      "after",
      example(
        "poslab perplexity model.gguf --text story.txt --lengths 512,1024,2048 --override yarn:4 --override theta:40000 --svg loss.svg",
      ),
    )
    .action((path: string, options) => run(async () => (await import("./perplexity.js")).perplexity(path, options)));
}

function addGenerate(program: Command, run: Run, example: Example): void {
  addOpening(program.command("generate"))
    .description("let a model write; the text alone goes to standard output")
    .option("--prompt <text>", "what to go on with (default: the token that begins a text)")
    .addOption(new Option("--tokens <n>", "at most so many new tokens").argParser(wholeNumber(0)).default(256))
    .addOption(
      new Option("--temperature <T>", "0 always takes the most likely token").argParser(atLeastZero).default(0),
    )
    .addOption(
      new Option("--top-p <P>", "draw from the most likely tokens that reach this share")
        .argParser(finiteNumber(0))
        .default(1),
    )
    .addOption(new Option("--seed <S>", "of the random numbers").argParser(wholeNumber(0, 2 ** 31 - 1)).default(1))
    .addOption(new Option("--override <kind>", `positions otherwise than trained: ${kinds}`))
    .option("--quiet", "no notices")
    .addHelpText(
      "after",
      example('poslab generate stories260K.bin --prompt "Once upon a time" --temperature 0.8 --top-p 0.9 --seed 7'),
    )
    .action((path: string, options) => run(async () => (await import("./generate.js")).generate(path, options)));
}

/** A finite number, 0 or larger. */
function atLeastZero(text: string): number {
  const number = text.trim() === "" ? NaN : Number(text);
  if (!(number >= 0 && number < Infinity)) throw new InvalidArgumentError("Allowed: a number, 0 or larger.");
  return number;
}
