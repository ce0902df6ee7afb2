// SPDX-License-Identifier: MIT
// The scheme of table, bias, rotate and attention: a name or a JSON object, and an option for each usual field. Which fields
// a scheme has, and what they may be, is its own business: the core checks them, and its complaints are given the option's name.

import { type Command, InvalidArgumentError, Option } from "commander";
import type { PosLab } from "../js/index.js";
import type { Position, SchemeInfo } from "../js/types.js";
import { assignment, collect, finiteNumber, finiteNumbers, nameOrObject, wholeNumber } from "./arguments.js";
import { isPosLabError } from "./failure.js";
import { setField } from "./object-path.js";

interface PositionOption {
  flags: string;
  field: string;
  about: string;
  parse?: (text: string) => unknown;
}

const positionOptions: PositionOption[] = [
  { flags: "--theta <number>", field: "theta", about: "rope, xpos: base of the angles", parse: finiteNumber(0) },
  {
    flags: "--layout <name>",
    field: "layout",
    about: "rope, xpos: half or interleaved; sinusoidal: interleaved or concatenated",
  },
  {
    flags: "--rotary-dim <n>",
    field: "rotaryDim",
    about: "rope: how many lanes of a head are turned",
    parse: wholeNumber(0),
  },
  {
    flags: "--scaling <type|json>",
    field: "scaling",
    about: "rope: linear, ntk, dynamic, yarn, longrope, llama3 or proportional",
    parse: scaling,
  },
  { flags: "--factor <number>", field: "scaling.factor", about: "of the scaling", parse: finiteNumber(0) },
  {
    flags: "--original-length <n>",
    field: "scaling.originalMaxPositionEmbeddings",
    about: "of the scaling: the trained length",
    parse: wholeNumber(1),
  },
  {
    flags: "--max-position-embeddings <n>",
    field: "maxPositionEmbeddings",
    about: "rope: the model's own limit",
    parse: wholeNumber(1),
  },
  {
    flags: "--base <number>",
    field: "base",
    about: "sinusoidal, transformer-xl: base of the wavelengths",
    parse: finiteNumber(0),
  },
  { flags: "--denominator <name>", field: "denominator", about: "sinusoidal: dim or half-dim-minus-one" },
  { flags: "--offset <n>", field: "offset", about: "learned: the row of position 0", parse: wholeNumber(0) },
  {
    flags: "--max-distance <n>",
    field: "maxDistance",
    about: "shaw, t5: where distances are clipped",
    parse: wholeNumber(0),
  },
  { flags: "--buckets <n>", field: "buckets", about: "t5: how many", parse: wholeNumber(1) },
  { flags: "--bidirectional", field: "bidirectional", about: "t5: later keys have buckets too" },
  {
    flags: "--clamp-length <n>",
    field: "clampLength",
    about: "transformer-xl: where distances are clamped",
    parse: wholeNumber(1),
  },
  {
    flags: "--slopes <list>",
    field: "slopes",
    about: "alibi: one number a head, or standard",
    parse: (text) => (text === "standard" ? text : finiteNumbers(text)),
  },
  { flags: "--scale-base <number>", field: "scaleBase", about: "xpos: base of the decay", parse: finiteNumber(0) },
  { flags: "--kind <name>", field: "kind", about: "kerple: log or power" },
];

const kSet = "--set <field=value>";

function scaling(text: string): object {
  const value = nameOrObject(text);
  if (typeof value === "object") return value;
  if (value === "") throw new InvalidArgumentError("Allowed: the name of a scaling, or a JSON object.");
  return { ropeType: value };
}

export function addPositionOptions(command: Command, defaultPosition: string): Command {
  command
    .optionsGroup("Encoding:")
    .addOption(
      new Option("--position <name|json>", "the encoding: a name (poslab schemes lists them) or a JSON scheme object")
        .argParser(nameOrObject)
        .default(defaultPosition),
    );
  for (const { flags, about, parse } of positionOptions) {
    const option = new Option(flags, about);
    command.addOption(parse ? option.argParser(parse) : option);
  }
  return command.addOption(
    new Option(kSet, "any other field of it, as in scaling.betaFast=16; may be repeated").argParser(
      collect(assignment),
    ),
  );
}

export type PositionOptionValues = { position: string | object; set?: { path: string; value: unknown }[] } & Record<
  string,
  unknown
>;

/** The scheme object that the options describe. */
export function positionFromOptions(values: PositionOptionValues): Position {
  const position: object =
    typeof values.position === "string" ? { type: values.position } : structuredClone(values.position);
  // --scaling before --factor, whatever the order on the command line: the list above has them in this order.
  for (const { flags, field } of positionOptions) {
    const value = values[new Option(flags).attributeName()];
    if (value !== undefined) setField(position, field, value, flags.split(" ")[0]!);
  }
  for (const { path, value } of values.set ?? []) setField(position, path, value, "--set");
  return position as Position;
}

/** What the build says of the scheme; undefined where the name is not known. */
export function schemeInfo(lab: PosLab, position: Position): SchemeInfo | undefined {
  return lab.info.schemes.find(({ type }) => type === position.type);
}

/** The package's complaint about a computation, with the option in front that the person wrote. */
export function positionProblem(error: unknown, values: PositionOptionValues): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!isPosLabError(error) || !error.argument) return message;
  const argument = error.argument;
  if (argument === "position" || argument === "position.type") return `option '--position': ${message}`;
  const field = argument.replace(/^position\./, "");
  if (values.set?.some(({ path }) => path === field)) return `option '--set': ${message}`;
  const option = positionOptions
    .filter((entry) => field === entry.field || field.startsWith(`${entry.field}.`))
    .sort((a, b) => b.field.length - a.field.length)
    .find(({ flags }) => error.code === "missing" || values[new Option(flags).attributeName()] !== undefined);
  if (option) {
    const flag = option.flags.split(" ")[0]!;
    return error.code === "missing" ? `${message} (option '${flag}')` : `option '${flag}': ${message}`;
  }
  // Sizes and masks are options of the same name: headDim, mask.window.
  const name = field.split(".").at(-1)!;
  return typeof values[name] === "number" ? `option '--${kebab(name)}': ${message}` : message;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
