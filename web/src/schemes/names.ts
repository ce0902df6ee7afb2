// SPDX-License-Identifier: MIT
// What an encoding and a change at test time are called in the chosen language. Parameters are named only where the
// same scheme stands in the list more than once.

import type { Encoding } from "../engine/poslab.js";
import type { Dictionary } from "../language/english.js";
import type { Switch } from "../state/fields.js";
import { alibiSlopes } from "./alibi-slopes.js";
import { setFields } from "./fields.js";
import { isSchemeType } from "./looks.js";

export function encodingNames(encodings: readonly Encoding[], words: Dictionary): string[] {
  return encodings.map((encoding) => {
    const name = encoding.label ?? schemeName(encoding.type, words);
    const alone = encodings.filter((other) => other.type === encoding.type).length < 2;
    if (encoding.label || alone) return name;
    const details = setFields(encoding).map(([field, value]) => `${plainName(field, words)} ${value}`);
    const { list, open, close } = words.punctuation;
    return details.length ? `${name}${open}${details.join(list)}${close}` : name;
  });
}

export function schemeName(type: string, words: Dictionary): string {
  return isSchemeType(type) ? words.schemes[type].name : type;
}

export function fieldName(field: string, words: Dictionary): string {
  const names: Record<string, string> = words.schemeFields;
  return names[field] ?? field;
}

/** Without what its label says of some values: "rotary dim (0: all)". */
const plainName = (field: string, words: Dictionary) => fieldName(field, words).replace(/ ?[(（].*$/u, "");

type ScalingWord = "linear" | "ntk" | "dynamic" | "yarn";
const scalingWords: readonly string[] = ["linear", "ntk", "dynamic", "yarn"] satisfies ScalingWord[];

/** "NTK × 8", "window 64", "run as ALiBi". */
export function changeName(
  change: Switch,
  heads: number,
  words: Dictionary,
  number: (value: number) => string,
): string {
  const short = words.atTest.short;
  const parts: string[] = [];
  const { position } = change;
  if (position?.type === "rope" && position.scaling && change.of.type === "rope") {
    const { ropeType, factor } = position.scaling;
    const name = scalingWords.includes(ropeType) ? short[ropeType as ScalingWord] : ropeType;
    parts.push(factor === undefined ? name : `${name} × ${number(factor)}`);
  } else if (position?.type === "alibi" && change.of.type === "alibi" && Array.isArray(position.slopes)) {
    parts.push(short.slopes(number(position.slopes[0]! / alibiSlopes(heads)[0]!)));
  } else if (position) parts.push(short.other(schemeName(position.type, words)));
  if (change.window !== undefined) parts.push(short.window(number(change.window)));
  if (change.distances) {
    const { distances } = change;
    const group = distances.policy === "grouped" && distances.group !== undefined ? number(distances.group) : null;
    parts.push(short[distances.policy](number(distances.window), group));
  }
  if (change.shift !== undefined) parts.push(short.shift(number(change.shift)));
  if (change.interpolate) parts.push(short.stretch);
  return parts.join(words.punctuation.comma);
}
