// SPDX-License-Identifier: MIT
// Name, idea and colour of any scheme, known to the site or not.

import { interpolateViridis } from "d3-scale-chromatic";
import { curveStyles, type Encoding } from "../engine/poslab.js";
import type { Dictionary } from "../language/english.js";
import { encodingLooks, isSchemeType, type Look, type Theme } from "../schemes/looks.js";

export function lookOf(type: string, theme: Theme): Look {
  if (isSchemeType(type)) return encodingLooks([{ type } as Encoding], theme)[0]!;
  const { color, dash } = curveStyles([type])[0]!;
  return { colour: color, dash: dash === "" ? [] : dash.split(" ").map(Number) };
}

export function schemeWords(type: string, words: Dictionary): { name: string; idea: string } {
  const known: Record<string, { name: string; idea: string }> = words.schemes;
  return known[type] ?? { name: type, idea: "" };
}

/** Colours of heads, dimensions, ... in their order: the scheme's own for one, else an ordered map, the part of it that stands
    out from the page. */
export function shades(colour: string, count: number, theme: Theme): string[] {
  if (count < 2) return [colour];
  const [from, to] = theme === "light" ? [0, 0.7] : [0.35, 1];
  return Array.from({ length: count }, (_, index) => interpolateViridis(from + ((to - from) * index) / (count - 1)));
}
