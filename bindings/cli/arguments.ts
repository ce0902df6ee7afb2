// SPDX-License-Identifier: MIT
// From the text of an option to its value. What is wrong is reported by the argument parser, which adds the option's name;
// here it is said what would be allowed.

import { InvalidArgumentError } from "commander";
import type { Distances } from "../js/types.js";
import { oneLine } from "./failure.js";

/** A whole number within limits: "12", "1e3". */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = toNumber(text);
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum) {
      const open = maximum === Number.MAX_SAFE_INTEGER && !(Number.isFinite(value) && value > maximum);
      const range = open ? `${minimum} or more` : `from ${minimum} to ${maximum}`;
      throw new InvalidArgumentError(`Allowed: a whole number, ${range}.`);
    }
    return value;
  };
}

/** A finite number, above a limit when one is given. */
export function finiteNumber(above = -Infinity): (text: string) => number {
  return (text) => {
    const value = toNumber(text);
    if (!Number.isFinite(value) || value <= above) {
      throw new InvalidArgumentError(`Allowed: a number${above === -Infinity ? "" : ` larger than ${above}`}.`);
    }
    return value;
  };
}

/** "64,128,256": whole numbers within limits. */
export function wholeNumbers(minimum: number): (text: string) => number[] {
  const one = wholeNumber(minimum);
  return (text) => {
    const parts = text.split(",").map((part) => part.trim());
    if (parts.some((part) => part === ""))
      throw new InvalidArgumentError("Allowed: whole numbers with commas between them.");
    return parts.map(one);
  };
}

/** "grouped:512:8" or "clamped:512". */
export function distances(text: string): Distances {
  const [policy, ...sizes] = text.split(":");
  const [window = 0, group = 0] = sizes.map(wholeNumber(1));
  if (policy === "grouped" && sizes.length === 2) return { policy, window, group };
  if (policy === "clamped" && sizes.length === 1) return { policy, window };
  throw new InvalidArgumentError("Allowed: grouped:WINDOW:GROUP or clamped:WINDOW.");
}

/** A number or a list: "5" is the numbers from `first` to 5, "1,4,9" are those, and "7," is the one number 7. */
export function countOrList(first: number, most: number): (text: string) => number[] {
  return (text) => {
    if (!text.includes(",")) return Array.from({ length: wholeNumber(1, most)(text) }, (_, index) => first + index);
    const list = wholeNumbers(0)(text.replace(/,\s*$/, ""));
    if (new Set(list).size < list.length)
      throw new InvalidArgumentError("Allowed: numbers that differ from each other.");
    return list;
  };
}

/** "0.1,0.2": finite numbers. */
export function finiteNumbers(text: string): number[] {
  return text.split(",").map((part) => finiteNumber()(part.trim()));
}

/** JSON, with the place of the fault. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${jsonProblem(error, text)}.`);
  }
}

/** A name, or a JSON object when it starts with a brace. */
export function nameOrObject(text: string): string | object {
  return text.trimStart().startsWith("{") ? (json(text) as object) : text.trim();
}

/**
 * Names and JSON objects with commas between them ("rope,alibi", 'rope,{"type":"rope","theta":500}'), or a JSON array of both.
 */
export function namesOrObjects(text: string): (string | object)[] {
  if (text.trimStart().startsWith("[")) {
    const list = json(text);
    if (
      !Array.isArray(list) ||
      !list.every((entry) => typeof entry === "string" || (typeof entry === "object" && entry !== null))
    ) {
      throw new InvalidArgumentError("Allowed: an array of names and scheme objects.");
    }
    return list as (string | object)[];
  }
  const parts = splitOutsideBraces(text).map((part) => part.trim());
  if (parts.some((part) => part === ""))
    throw new InvalidArgumentError("Allowed: names or JSON objects with commas between them.");
  return parts.map(nameOrObject);
}

/** Collects a repeated option. */
export function collect<T>(parse: (text: string) => T): (text: string, previous: T[] | undefined) => T[] {
  return (text, previous) => [...(previous ?? []), parse(text)];
}

/** "field=value": the value is JSON where it can be read as such, and text otherwise. */
export function assignment(text: string): { path: string; value: unknown } {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Allowed: field=value, the name of a field and what it becomes.");
  const value = text.slice(equals + 1);
  try {
    return { path: text.slice(0, equals).trim(), value: JSON.parse(value) as unknown };
  } catch {
    return { path: text.slice(0, equals).trim(), value };
  }
}

/** What the JSON parser found wrong: with line and column where it counts characters, with the surroundings where it shows them. */
export function jsonProblem(error: unknown, text: string): string {
  const message = oneLine((error instanceof Error ? error.message : String(error)).replace(/ is not valid JSON$/, ""));
  const position = /\s*(?:in JSON )?at position (\d+).*$/s.exec(message);
  if (!position) return message.replace(/^(Unexpected token .+?), /, "$1 in ");
  const before = text.slice(0, Number(position[1])).split("\n");
  return `${message.slice(0, position.index)} at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

function toNumber(text: string): number {
  return /^\s*$/.test(text) ? NaN : Number(text);
}

function splitOutsideBraces(text: string): string[] {
  const parts = [""];
  let depth = 0,
    quoted = false,
    escaped = false;
  for (const character of text) {
    if (quoted) {
      if (escaped) escaped = false;
      else if (character === "\\") escaped = true;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (character === "," && depth === 0 && !quoted) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
