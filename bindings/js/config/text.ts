// SPDX-License-Identifier: MIT
// A config.json as text: parsed with messages that name the key, and what only the text tells (8 or 8.0).

import { PosLabError } from "../errors.js";

export function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Python writes these, and JSON has no name for them.
    const [, key, value] = /"([^"\\]{1,80})"\s*:\s*(-?(?:NaN|Infinity))/.exec(text) ?? [];
    if (key !== undefined)
      throw new PosLabError("type", `${key}: ${value} was given; a number is allowed`, { argument: key, given: value });
    throw new PosLabError("format", `config must be JSON: ${error instanceof Error ? error.message : String(error)}`, {
      argument: "config",
      cause: error,
    });
  }
}

/** Keys for which old versions of transformers want a decimal point, and that have none in this text. */
export function integerFactors(text: string): string[] {
  return [...text.matchAll(/"(factor|attention_factor)"\s*:\s*(\d+)(?=\s*[,}])/g)].map(
    ([, key = "", value = ""]) => `${key}: ${value}`,
  );
}
