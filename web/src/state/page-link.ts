// SPDX-License-Identifier: MIT
// The address of a page's settings, from a table of fields: only differences from the defaults, readable keys. A link comes
// from anywhere: unknown keys are dropped and bad values put back to the default, each with a notice.

import type { Notice } from "./link.js";
import { parseObject, writeObject } from "./objects.js";

/** A scheme object of any type, known to the page or not: the core checks it. */
export interface SchemeObject {
  type: string;
  [field: string]: unknown;
}

export type PageField =
  | { key: string; kind: "integer" | "number"; minimum: number; maximum: number; fallback: number }
  | { key: string; kind: "choice"; choices: readonly string[]; fallback: string }
  | { key: string; kind: "flag"; fallback: boolean }
  | { key: string; kind: "text"; longest: number; fallback: string }
  | { key: string; kind: "schemes"; most: number; fallback: readonly SchemeObject[] };
export type PageTable = Readonly<Record<string, PageField>>;
export type PageValues<Table extends PageTable> = { -readonly [Name in keyof Table]: Widened<Table[Name]> };
type Widened<Field extends PageField> = Field extends { kind: "integer" | "number" }
  ? number
  : Field extends { kind: "choice"; choices: readonly (infer Choice)[] }
    ? Choice
    : Field extends { kind: "flag" }
      ? boolean
      : Field extends { kind: "text" }
        ? string
        : SchemeObject[];

const kVersion = "1";

export function pageDefaults<Table extends PageTable>(table: Table): PageValues<Table> {
  const entries = Object.entries(table).map(([name, { fallback }]) => [name, fallback]);
  return Object.fromEntries(entries) as PageValues<Table>;
}

/** The part after the "?", "" when everything is at its default. */
export function writePageLink<Table extends PageTable>(table: Table, values: PageValues<Table>): string {
  const given = values as Record<string, unknown>;
  const parts = Object.entries(table).flatMap(([name, field]) => {
    const text = writeField(field, given[name]);
    return text === writeField(field, field.fallback) ? [] : [`${field.key}=${encode(text)}`];
  });
  return parts.length === 0 ? "" : [`v=${kVersion}`, ...parts].join("&");
}

/** encodeURIComponent, but leaves what is allowed after a "#" and is easier to read as it is. */
const encode = (text: string) => encodeURIComponent(text).replace(/%3A/gi, ":").replace(/%2C/gi, ",");

function writeField(field: PageField, value: unknown): string {
  if (field.kind === "flag") return value === true ? "1" : "0";
  if (field.kind !== "schemes") return String(value);
  return (value as SchemeObject[]).map(({ type, ...rest }) => writeObject(type, rest)).join(",");
}

export function readPageLink<Table extends PageTable>(
  table: Table,
  query: string,
): { values: PageValues<Table>; notices: Notice[] } {
  const parameters = new URLSearchParams(query);
  const notices: Notice[] = [];
  const version = parameters.get("v");
  if (version !== null && version !== kVersion) notices.push({ kind: "other-version", key: version });
  const keys = new Set(Object.values(table).map(({ key }) => key));
  for (const key of new Set(parameters.keys())) {
    if (key !== "v" && !keys.has(key)) notices.push({ kind: "unknown-key", key });
  }
  const values = pageDefaults(table) as Record<string, unknown>;
  for (const [name, field] of Object.entries(table)) {
    const text = parameters.get(field.key);
    if (text === null) continue;
    const value = readField(field, text);
    if (value === undefined) notices.push({ kind: "bad-value", key: field.key });
    else values[name] = value;
  }
  return { values: values as PageValues<Table>, notices };
}

function readField(field: PageField, text: string): unknown {
  switch (field.kind) {
    case "integer":
    case "number":
      return readNumber(field, text);
    case "choice":
      return field.choices.includes(text) ? text : undefined;
    case "flag":
      return text === "1" ? true : text === "0" ? false : undefined;
    case "text":
      return text.length <= field.longest ? text : undefined;
    case "schemes":
      return readSchemes(text, field.most);
  }
}

export interface NumberLimits {
  kind: "integer" | "number";
  minimum: number;
  maximum: number;
  /** allowed as well, outside the limits: 0 for "all" or "none" */ besides?: number;
}

/** `undefined` for a text that is no such number. */
export function readNumber(field: NumberLimits, text: string): number | undefined {
  const value = text.trim() === "" ? NaN : Number(text);
  const fits = value === field.besides || (value >= field.minimum && value <= field.maximum);
  return fits && (field.kind === "number" || Number.isInteger(value)) ? value : undefined;
}

function readSchemes(text: string, most: number): SchemeObject[] | undefined {
  const parsed = text.split(",").map(parseObject);
  if (parsed.length > most || !parsed.every((item) => item !== null && /^[\w-]{1,40}$/.test(item.head)))
    return undefined;
  return parsed.map((item) => ({ ...item!.rest, type: item!.head }));
}
