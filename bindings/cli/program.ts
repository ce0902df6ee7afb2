// SPDX-License-Identifier: MIT
// The commands of `poslab`, their options and help. What a command does is loaded only when it runs, so that help is there at once.

import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { colors } from "./colors.js";
import {
  assignment,
  collect,
  countOrList,
  distances,
  finiteNumber,
  json,
  nameOrObject,
  namesOrObjects,
  wholeNumber,
  wholeNumbers,
} from "./arguments.js";
import { caseHelp } from "./case-help.js";
import { addModelCommands } from "./model-commands.js";
import { addPositionOptions } from "./position-options.js";

export const kVersion = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;

const exitHelp = `
Exit status:
  0    done
  1    done, but something in it failed (a case of check, a run of extrapolate)
  2    could not be done as asked: an option, a file, or a file that is not a case
  130  interrupted; what was done is kept`;

export function buildProgram(run: (work: () => Promise<number>) => Promise<void>): Command {
  const program = new Command("poslab")
    .description("Positional encodings and attention: compute them, check them, and train short to test long.")
    .version(kVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print help for one command")
    .configureHelp({ styleTitle: (title) => colors.bold(title), showGlobalOptions: false })
    .showHelpAfterError(false)
    .addHelpText(
      "after",
      `${exitHelp}

Example:
  poslab extrapolate --encodings rope,alibi --steps 200 --out result.json --svg result.svg`,
    );
  addExtrapolate(program, run);
  addCheck(program, run);
  addExplain(program, run);
  addConvert(program, run);
  addExport(program, run);
  addPrecision(program, run);
  addTable(program, run);
  addBias(program, run);
  addRotate(program, run);
  addAttention(program, run);
  addModelCommands(program, run, example);
  program
    .command("schemes")
    .description("list the encodings, the hooks of attention that each one uses, and where its formula comes from")
    .option("--json", "print JSON")
    .addHelpText("after", example("poslab schemes"))
    .action((options) => run(async () => (await import("./schemes.js")).listSchemes(options)));
  return program;
}

function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

type Run = (work: () => Promise<number>) => Promise<void>;

function addExtrapolate(program: Command, run: Run): void {
  const command = program
    .command("extrapolate")
    .argument(
      "[experiment]",
      'an experiment as JSON ("-" reads standard input); without it the built-in one with five encodings',
    )
    .description("train small transformers at one length and test them at longer ones")
    .optionsGroup("Experiment (each replaces a field of the experiment):")
    .addOption(
      new Option(
        "--encodings <list>",
        "names or JSON scheme objects with commas between them, or a JSON array",
      ).argParser(namesOrObjects),
    )
    .addOption(new Option("--task <task>", "a task's name, or a JSON object").argParser(nameOrObject))
    .option("--corpus <file>", "train on this text (UTF-8); also the name of a built-in corpus")
    .addOption(new Option("--unit <unit>", "what a token of text is").choices(["characters", "bytes"]))
    .addOption(new Option("--length <L>", "trained length").argParser(wholeNumber(1)))
    .addOption(new Option("--test <lengths>", "tested lengths, with commas between them").argParser(wholeNumbers(1)))
    .addOption(new Option("--steps <n>", "training steps").argParser(wholeNumber(0)))
    .addOption(new Option("--tokens <n>", "instead of steps: tokens to train on").argParser(wholeNumber(1)))
    .addOption(
      new Option(
        "--seeds <n|list>",
        'a number of seeds ("3" is 1, 2, 3) or a list of seeds ("4,8"; "7," is the one seed 7)',
      ).argParser(countOrList(1, 1000)),
    )
    .addOption(new Option("--dim <n>", "width of the model").argParser(wholeNumber(1)))
    .addOption(new Option("--heads <n>", "heads of attention").argParser(wholeNumber(1)))
    .addOption(new Option("--layers <n>", "layers").argParser(wholeNumber(1)))
    .addOption(new Option("--feed-forward <n>", "width of the feed-forward part").argParser(wholeNumber(1)))
    .addOption(new Option("--batch <n>", "sequences a step").argParser(wholeNumber(1)))
    .addOption(new Option("--learning-rate <rate>", "peak learning rate").argParser(finiteNumber(0)))
    .addOption(new Option("--windows <n>", "windows measured at every tested length").argParser(wholeNumber(1)))
    .addOption(
      new Option(
        "--at-test <json>",
        'changes at test time on trained weights, as in [{"of":0,"window":64}] or {"of":0,"distances":{"policy":"grouped","window":32}} (Self-Extend)',
      ).argParser(json),
    )
    .addOption(
      new Option("--set <field=value>", "any other field, as in training.warmup=50; may be repeated").argParser(
        collect(assignment),
      ),
    )
    .optionsGroup("Running:")
    .addOption(
      new Option("--workers <n>", "runs at the same time (default: one a core)").argParser(wholeNumber(1, 256)),
    )
    .option(
      "--resume <result>",
      "go on with an interrupted experiment from its result file and the state file beside it",
    )
    .optionsGroup("Output:")
    .option("--out <file>", "write the result as JSON")
    .option("--csv <file>", "write the numbers as CSV")
    .option("--svg <file>", "write a chart as SVG")
    .option("--save <folder>", "write the trained weights, one safetensors file a run")
    .option("--json", "print the result as JSON on standard output, and nothing else there")
    .option("--quiet", "no progress and no notices");
  command
    .addHelpText(
      "after",
      `
Ctrl-C keeps what is done: the result so far and, beside it, a file NAME.state.safetensors with the half-finished runs.
Resumed, they end with the same numbers as if they had never been interrupted.
${example(
  "poslab extrapolate",
  "poslab extrapolate --seeds 3 --out result.json --svg chart.svg",
  'poslab extrapolate --encodings \'rope,alibi,{"type":"t5","maxDistance":64}\' --corpus book.txt --steps 500',
  "poslab extrapolate --resume result.json",
)}
${exitHelp.replace("a case of check, a run of extrapolate", "a run diverged, or its worker died")}`,
    )
    .action((experiment: string | undefined, options) =>
      run(async () => (await import("./extrapolate.js")).extrapolate(experiment, options)),
    );
}

function addCheck(program: Command, run: Run): void {
  program
    .command("check")
    .argument("<path...>", "case files, or folders whose *.safetensors are cases")
    .description("run conformance cases (safetensors files with inputs and expected results) and count them")
    .option("--json", "print one JSON object a case, and nothing else")
    .addHelpText(
      "after",
      `${caseHelp}${example("poslab check tests/cases", "poslab check mine.safetensors --json")}

Exit status:
  0    every case passed
  1    a case failed
  2    a file is not a case, or cannot be read`,
    )
    .action((paths: string[], options) => run(async () => (await import("./check.js")).check(paths, options)));
}

function addExplain(program: Command, run: Run): void {
  program
    .command("explain")
    .argument("[file]", 'config.json, params.json, GGUF or a llama2.c checkpoint ("-", or nothing: standard input)')
    .description("what a model's config says about positions, with the key that each value came from, and cautions")
    .option("--layer <layer>", "only this layer: its number, or its kind as in full_attention")
    .addOption(
      new Option("--length <n>", "running length, which dynamic and longrope scalings look at").argParser(
        wholeNumber(0),
      ),
    )
    .option("--json", "print JSON, and nothing else")
    .addHelpText(
      "after",
      example(
        "poslab explain config.json",
        "poslab explain model.gguf --json",
        "poslab explain --length 8192 < config.json",
      ),
    )
    .action((file: string | undefined, options) =>
      run(async () => (await import("./explain.js")).explain(file, options)),
    );
}

function addConvert(program: Command, run: Run): void {
  program
    .command("convert")
    .argument("<in>", "a safetensors file with the weights of a rotary model")
    .argument("<out>", "the file to write")
    .description("weights of a rotary model in the other lane layout: q and k reordered, all else byte for byte")
    .addOption(
      new Option("--to <layout>", "the layout to have: half (transformers) or interleaved (Meta, GGUF's llama)")
        .choices(["half", "interleaved"])
        .makeOptionMandatory(),
    )
    .option("--config <file>", "the model's config.json (default: the one beside <in>)")
    .addOption(new Option("--head-dim <n>", "instead of a config: width of a head").argParser(wholeNumber(1)))
    .addOption(new Option("--rotary-dim <n>", "lanes that are rotated (default: the head)").argParser(wholeNumber(2)))
    .addOption(new Option("--heads <n>", "query heads, where q, k and v are one tensor").argParser(wholeNumber(1)))
    .addHelpText(
      "after",
      example(
        "poslab convert model.safetensors interleaved.safetensors --to interleaved",
        "poslab convert in.safetensors out.safetensors --to half --head-dim 64 --rotary-dim 32",
      ),
    )
    .action((from: string, to: string, options) =>
      run(async () => (await import("./convert.js")).convert(from, to, options)),
    );
}

function addExport(program: Command, run: Run): void {
  const command = program
    .command("export")
    .description(
      "cos and sin caches, or a bias, as ONNX, flash-attention, transformers and ggml take them: safetensors",
    )
    .addOption(
      new Option("--program <name>", "whose names and shapes")
        .choices(["onnx", "flash-attention", "transformers", "ggml"])
        .default("onnx"),
    )
    .requiredOption("--out <file>", "the safetensors file to write; attributes are its metadata")
    .optionsGroup("Sizes:")
    .addOption(new Option("--head-dim <n>", "width of a head (rotations)").argParser(wholeNumber(1)).default(128))
    .addOption(new Option("--heads <n>", "heads (biases)").argParser(wholeNumber(1)).default(8))
    .addOption(new Option("--length <n>", "positions, or keys").argParser(wholeNumber(0)).default(2048))
    .addOption(new Option("--query-length <n>", "queries (default: as many as keys)").argParser(wholeNumber(0)))
    .option("--causal", "biases also hide later keys");
  addInputs(command, "rope")
    .addHelpText(
      "after",
      example("poslab export --position rope --theta 500000 --program onnx --out caches.safetensors"),
    )
    .action((options) => run(async () => (await import("./export.js")).exportTensors(options)));
}

function addPrecision(program: Command, run: Run): void {
  const command = program
    .command("precision")
    .description("what float32, bfloat16 and float16 do to a rotation: equal ids and angles, errors of cos and sin")
    .optionsGroup("Sizes:")
    .addOption(new Option("--head-dim <n>", "width of a head").argParser(wholeNumber(1)).default(128))
    .addOption(new Option("--length <n>", "positions").argParser(wholeNumber(1)).default(8192));
  addPositionOptions(command, "rope")
    .optionsGroup("Output:")
    .option("--json", "print JSON, with every pair")
    .addHelpText("after", example("poslab precision --theta 500000 --length 131072"))
    .action((options) => run(async () => (await import("./precision.js")).precision(options)));
}

const outputHelp = "write .json, .csv, .safetensors (a conformance case) or .svg (a heat map); may be repeated";

/** A scheme, and where its tensors and those of the call come from. */
function addInputs(command: Command, defaultPosition: string): Command {
  return addPositionOptions(command, defaultPosition)
    .optionsGroup("Inputs:")
    .option("--input <file>", "take tensors from a safetensors file, named as in a conformance case")
    .addOption(
      new Option("--seed <n>", "seed of the random numbers that stand in for tensors not given")
        .argParser(wholeNumber(0, 2 ** 31 - 1))
        .default(1),
    );
}

/** What table, bias, rotate and attention have in common. */
function addComputed(command: Command, defaultPosition: string): Command {
  return addInputs(command, defaultPosition)
    .optionsGroup("Output:")
    .addOption(new Option("--out <file>", outputHelp).argParser(collect((text) => text)))
    .option("--json", "print JSON instead of a preview");
}

function addTable(program: Command, run: Run): void {
  const command = program
    .command("table")
    .description("the vectors that an encoding adds to tokens (sinusoidal, learned and those of grids): [length, dim]")
    .optionsGroup("Sizes:")
    .addOption(new Option("--length <n>", "positions").argParser(wholeNumber(0)).default(16))
    .addOption(new Option("--dim <n>", "width").argParser(wholeNumber(1)).default(16))
    .addOption(new Option("--start <n>", "the first position").argParser(wholeNumber(0)).default(0));
  addComputed(command, "sinusoidal")
    .addHelpText("after", example("poslab table --position sinusoidal --length 512 --dim 64 --out table.svg"))
    .action((options) => run(async () => (await import("./compute.js")).computeTable(options)));
}

function addBias(program: Command, run: Run): void {
  const command = program
    .command("bias")
    .description(
      "what an encoding adds to the logits by position alone (ALiBi, T5, KERPLE, FIRE, TISA, ...): [heads, queries, keys]",
    )
    .optionsGroup("Sizes:")
    .addOption(new Option("--heads <n>", "heads").argParser(wholeNumber(1)).default(4))
    .addOption(new Option("--query-length <n>", "queries").argParser(wholeNumber(0)).default(8))
    .addOption(new Option("--key-length <n>", "keys (default: as many as queries)").argParser(wholeNumber(0)));
  addComputed(command, "alibi")
    .addHelpText(
      "after",
      example(
        "poslab bias --position alibi --heads 12 --query-length 8",
        "poslab bias --position t5 --max-distance 64 --query-length 128 --out bias.svg",
      ),
    )
    .action((options) => run(async () => (await import("./compute.js")).computeBias(options)));
}

function addRotate(program: Command, run: Run): void {
  const command = program
    .command("rotate")
    .description(
      "queries or keys turned by their positions (RoPE and its scalings, axial RoPE): [heads, length, head dim]",
    )
    .optionsGroup("Sizes:")
    .addOption(new Option("--heads <n>", "heads (default: 1)").argParser(wholeNumber(1)))
    .addOption(new Option("--length <n>", "positions (default: 8)").argParser(wholeNumber(0)))
    .addOption(new Option("--head-dim <n>", "width of a head (default: 16)").argParser(wholeNumber(1)))
    .addOption(new Option("--positions <list>", "position ids (default: 0, 1, 2, ...)").argParser(wholeNumbers(0)));
  addComputed(command, "rope")
    .addHelpText(
      "after",
      example(
        "poslab rotate --position rope --theta 500000 --positions 0,1,1000",
        "poslab rotate --position rope --scaling yarn --factor 4 --original-length 4096 --input x.safetensors --out turned.safetensors",
      ),
    )
    .action((options) => run(async () => (await import("./compute.js")).computeRotate(options)));
}

function addAttention(program: Command, run: Run): void {
  const command = program
    .command("attention")
    .description("attention with an encoding: output, and when asked for weights, scores and log-sum-exp")
    .optionsGroup("Sizes:")
    .addOption(new Option("--heads <n>", "query heads (default: 2)").argParser(wholeNumber(1)))
    .addOption(
      new Option("--key-value-heads <n>", "key and value heads; divides heads (default: as many)").argParser(
        wholeNumber(1),
      ),
    )
    .addOption(new Option("--query-length <n>", "queries (default: 8)").argParser(wholeNumber(0)))
    .addOption(new Option("--key-length <n>", "keys (default: as many as queries)").argParser(wholeNumber(0)))
    .addOption(new Option("--head-dim <n>", "width of a query and key head (default: 16)").argParser(wholeNumber(1)))
    .addOption(new Option("--value-dim <n>", "width of a value head (default: the head dim)").argParser(wholeNumber(1)))
    .optionsGroup("Mask:")
    .option("--causal", "a query sees no later key")
    .addOption(
      new Option("--alignment <name>", "where the causal diagonal ends when there are more keys than queries").choices([
        "bottom-right",
        "top-left",
      ]),
    )
    .addOption(
      new Option("--window <n>", "a query sees itself and n - 1 keys before it (needs --causal)").argParser(
        wholeNumber(1),
      ),
    )
    .addOption(
      new Option(
        "--distances <kind>",
        "far keys at other distances (needs --causal): grouped:WINDOW:GROUP (Self-Extend) or clamped:WINDOW (ReRoPE)",
      ).argParser(distances),
    )
    .addOption(
      new Option("--scale <number>", "factor of the logits (default: 1 / sqrt(head dim); T5 uses 1)").argParser(
        finiteNumber(),
      ),
    )
    .addOption(
      new Option("--show <name>", "what is printed and drawn")
        .choices(["output", "weights", "scores", "log-sum-exp"])
        .default("output"),
    )
    .option("--weights", "also compute the weights")
    .option("--scores", "also compute the scores before the softmax")
    .option("--log-sum-exp", "also compute the log-sum-exp of every row");
  addComputed(command, "rope")
    .addHelpText(
      "after",
      example(
        "poslab attention --position alibi --causal --show weights --out weights.svg",
        "poslab attention --position rope --input qkv.safetensors --causal --out attention.json",
      ),
    )
    .action((options) => run(async () => (await import("./compute.js")).computeAttention(options)));
}
