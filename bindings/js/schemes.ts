// SPDX-License-Identifier: MIT
// Scheme objects on their way to the core, without knowing any scheme: fields by dotted name, tensors apart. What a
// field means, and whether there is one of that name, is the scheme's own business in the core.

import type { FlatField, FlatScheme } from "./core-types.js";
import { PosLabError, wrongArgument } from "./errors.js";
import { isShaped, isTypedArray, readList, readTensor } from "./tensors.js";

/** How deep fields may be nested; schemes have one level ("scaling.ropeType"). */
const deepest = 4;

/** Flattens `{ type, ... }`; fields that are undefined or null count as not given. */
export function flattenScheme(scheme: unknown, argument = "position"): FlatScheme {
  if (typeof scheme !== "object" || scheme === null || Array.isArray(scheme)) {
    throw wrongArgument("type", argument, scheme, 'a scheme object such as { type: "rope" }');
  }
  const type: unknown = (scheme as { type?: unknown }).type;
  if (type === undefined)
    throw new PosLabError("missing", `${argument}.type is missing; the name of a scheme is needed`, {
      argument: `${argument}.type`,
    });
  if (typeof type !== "string") throw wrongArgument("type", `${argument}.type`, type, "the name of a scheme");
  const flat: FlatScheme = { type, fields: [], tensors: [], lists: [] };
  for (const [name, value] of Object.entries(scheme)) {
    if (name === "type" || value === undefined || value === null) continue;
    const path = `${argument}.${name}`;
    if (isShaped(value) || isNested(value)) {
      flat.tensors.push({ name, ...readTensor(value, path) });
    } else if (isTypedArray(value) || Array.isArray(value)) {
      flat.lists.push({ name, data: readList(value, path) });
    } else {
      flattenField(name, value, path, flat.fields);
    }
  }
  return flat;
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) && (Array.isArray(value[0]) || isTypedArray(value[0]));
}

function flattenField(name: string, value: unknown, path: string, fields: FlatField[]): void {
  if (typeof value === "number") fields.push({ name, value });
  else if (typeof value === "boolean") fields.push({ name, value });
  else if (typeof value === "string") fields.push({ name, value });
  else if (isTypedArray(value) || Array.isArray(value)) fields.push({ name, value: readList(value, path) });
  else if (typeof value === "object" && value !== null) {
    if (name.split(".").length > deepest)
      throw wrongArgument("format", path, "an object", `nesting of at most ${deepest} levels`);
    // Nothing would be left of it, and the field would be dropped without a word.
    if (Object.keys(value).length === 0) throw wrongArgument("type", path, value, "an object with fields");
    for (const [inner, entry] of Object.entries(value)) {
      if (entry !== undefined && entry !== null) flattenField(`${name}.${inner}`, entry, `${path}.${inner}`, fields);
    }
  } else throw wrongArgument("type", path, value, "a number, a text, true or false, a list or a nested object");
}
