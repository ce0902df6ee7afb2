// SPDX-License-Identifier: MIT
// Which symbols of a scheme can be set: its own fields and the sizes that its hooks depend on.

import { schemeFields, type SchemeField } from "../schemes/fields.js";
import type { HookName } from "./data/subject.js";
import type { SizeName } from "./settings.js";

export function fieldsOf(type: string): readonly SchemeField[] {
  const known: Record<string, readonly SchemeField[]> = schemeFields;
  return known[type] ?? [];
}

export function sizesOf(hooks: readonly HookName[]): SizeName[] {
  const embeds = hooks.includes("embedding");
  const attends = hooks.some((hook) => hook !== "embedding") || hooks.length === 0;
  return ["length", ...(embeds ? (["dim"] as const) : []), ...(attends ? (["heads", "headDim"] as const) : []), "seed"];
}
