// SPDX-License-Identifier: MIT
// The share link: "#/race?v=1&L=128&e=rope,alibi". Only differences from the defaults, readable keys; what is too long
// is deflated behind the one key "z". A link comes from anywhere: unknown keys are dropped and bad values put back to
// the default, each with a notice; nothing in it starts work.

import { deflateSync, inflateSync, strFromU8, strToU8 } from "fflate";
import * as v from "valibot";
import type { Encoding } from "../engine/poslab.js";
import { isFieldValue, sameEncoding, schemeFields } from "../schemes/fields.js";
import { fieldNames, fields, ownText, prune, resolve, type Overrides, type Rule, type Switch } from "./fields.js";
import { parseObject, writeObject } from "./objects.js";

export type Notice = {
  kind: "unknown-key" | "bad-value" | "other-version" | "unreadable" | "text-left-out";
  key: string;
};

export interface LinkState {
  overrides: Overrides;
  /** an own text that travels in the link */ text?: string;
}

const kVersion = "1";
/** Longer links are cut by some chat programs. */
const kReadableLength = 1200;
const kLongestLink = 8000;
/** Longer texts are not even tried: packing megabytes at every keystroke would hold up the page. */
const kLongestShared = 1 << 16;
/** Enough for any text that fits in a link, and small enough that a hostile one cannot fill memory. */
const kLargestInflated = 1 << 20;

const packed = v.object({ q: v.optional(v.string(), ""), text: v.optional(v.string()) });

/** The part after "#/race?", "" when everything is at its default. */
export function writeLink(state: LinkState): { query: string; notices: Notice[] } {
  const notices: Notice[] = [];
  const plain = writePlain(state.overrides);
  const text = state.overrides.corpus === ownText ? state.text : undefined;
  if (text !== undefined && text.length > kLongestShared) {
    notices.push({ kind: "text-left-out", key: "text" });
    return { query: plain.length <= kReadableLength ? plain : pack({ q: plain }), notices };
  }
  if (plain === "" && text === undefined) return { query: "", notices };
  if (text === undefined && plain.length <= kReadableLength) return { query: plain, notices };
  const query = pack({ q: plain, ...(text === undefined ? {} : { text }) });
  if (query.length <= kLongestLink) return { query, notices };
  notices.push({ kind: "text-left-out", key: "text" });
  return { query: plain.length <= kReadableLength ? plain : pack({ q: plain }), notices };
}

export function pack(value: v.InferInput<typeof packed>): string {
  const bytes = deflateSync(strToU8(JSON.stringify(value)), { level: 9 });
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `v=${kVersion}&z=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

export function unpack(text: string): v.InferOutput<typeof packed> | null {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const parsed = v.safeParse(
      packed,
      JSON.parse(strFromU8(inflateSync(bytes, { out: new Uint8Array(kLargestInflated) }))),
    );
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

function writePlain(overrides: Overrides): string {
  const set = prune(overrides);
  const parts = fieldNames.flatMap((name) => {
    const value = set[name];
    if (value === undefined) return [];
    return [`${fields[name].key}=${encode(writeValue(fields[name], value, resolve(overrides).encodings))}`];
  });
  return parts.length === 0 ? "" : [`v=${kVersion}`, ...parts].join("&");
}

function writeValue(rule: Rule, value: unknown, encodings: readonly Encoding[]): string {
  if (rule.kind === "encodings") {
    return (value as Encoding[]).map(({ type, ...rest }) => writeObject(type, rest)).join(",");
  }
  if (rule.kind === "switches") {
    return (value as Switch[])
      .flatMap(({ of, ...change }) => {
        const index = encodings.findIndex((encoding) => sameEncoding(encoding, of));
        return index < 0 ? [] : [writeObject(String(index), change)];
      })
      .join(",");
  }
  return String(value);
}

/** encodeURIComponent, but leaves what is allowed after a "#" and is easier to read as it is. */
const encode = (text: string) => encodeURIComponent(text).replace(/%3A/gi, ":").replace(/%2C/gi, ",");

export function readLink(query: string): LinkState & { notices: Notice[] } {
  const notices: Notice[] = [];
  let parameters = new URLSearchParams(query);
  let text: string | undefined;
  const version = parameters.get("v");
  if (version !== null && version !== kVersion) notices.push({ kind: "other-version", key: version });
  const long = parameters.get("z");
  if (long !== null) {
    const inner = unpack(long);
    if (!inner) return { overrides: {}, notices: [...notices, { kind: "unreadable", key: "z" }] };
    text = inner.text;
    parameters = new URLSearchParams(inner.q);
  }
  const overrides = readParameters(parameters, notices);
  return { overrides: prune(overrides), notices, ...(text === undefined ? {} : { text }) };
}

function readParameters(parameters: URLSearchParams, notices: Notice[]): Overrides {
  const known = new Map(fieldNames.map((name) => [fields[name].key, name]));
  for (const key of new Set(parameters.keys())) {
    if (key !== "v" && key !== "z" && !known.has(key)) notices.push({ kind: "unknown-key", key });
  }
  const overrides: Record<string, unknown> = {};
  // In the order of the table: switches name encodings by their number.
  for (const name of fieldNames) {
    const given = parameters.get(fields[name].key);
    if (given === null) continue;
    const refuse = (key: string) => void notices.push({ kind: "bad-value", key });
    const value = readValue(fields[name], given, resolve(overrides as Overrides).encodings, refuse);
    if (value === undefined) refuse(fields[name].key);
    else overrides[name] = value;
  }
  return overrides as Overrides;
}

/** `refuse` hears of fields of an encoding that are put back to their defaults. */
function readValue(rule: Rule, given: string, encodings: readonly Encoding[], refuse: (key: string) => void): unknown {
  switch (rule.kind) {
    case "integer":
    case "number": {
      const number = v.pipe(v.number(), v.finite(), v.minValue(rule.minimum), v.maxValue(rule.maximum));
      const parsed = v.safeParse(
        rule.kind === "integer" ? v.pipe(number, v.integer()) : number,
        given.trim() === "" ? NaN : Number(given),
      );
      return parsed.success ? parsed.output : undefined;
    }
    case "choice": {
      const parsed = v.safeParse(
        rule.choices ? v.picklist(rule.choices) : v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/)),
        given,
      );
      return parsed.success ? parsed.output : undefined;
    }
    case "encodings":
      return readList(given, (head, rest) => encodingFrom(head, rest, refuse));
    case "switches":
      return given === "" ? [] : readList(given, (head, rest) => switchFrom(head, rest, encodings));
  }
}

const kMostEntries = 24;

function readList<T>(
  given: string,
  read: (head: string, rest: Record<string, unknown>) => T | undefined,
): T[] | undefined {
  const items = given.split(",");
  if (items.length > kMostEntries) return undefined;
  const list: T[] = [];
  for (const item of items) {
    const parsed = parseObject(item);
    const value = parsed && read(parsed.head, parsed.rest);
    if (value === undefined || value === null) return undefined;
    list.push(value);
  }
  return list;
}

function encodingFrom(
  type: string,
  rest: Record<string, unknown>,
  refuse: (key: string) => void,
): Encoding | undefined {
  const parsed = v.safeParse(positionSchema, { type, ...rest });
  if (!parsed.success) return undefined;
  const encoding: Record<string, unknown> = parsed.output;
  for (const field of schemeFields[parsed.output.type]) {
    const value = encoding[field.name];
    if (value === undefined || isFieldValue(field, value)) continue;
    refuse(`${type}.${field.name}`);
    delete encoding[field.name];
  }
  return encoding as unknown as Encoding;
}

function switchFrom(head: string, rest: Record<string, unknown>, encodings: readonly Encoding[]): Switch | undefined {
  const of = /^\d{1,2}$/.test(head) ? encodings[Number(head)] : undefined;
  const parsed = v.safeParse(switchSchema, rest);
  return of && parsed.success ? ({ of, ...parsed.output } as unknown as Switch) : undefined;
}

const plain = v.union([
  v.pipe(v.number(), v.finite()),
  v.pipe(v.string(), v.maxLength(60)),
  v.array(v.pipe(v.number(), v.finite())),
]);
const schemeType = v.picklist([
  "none",
  "sinusoidal",
  "learned",
  "shaw",
  "transformer-xl",
  "t5",
  "rope",
  "alibi",
  "kerple",
  "xpos",
  "fire",
  "sandwich",
  "tisa",
  "relative-scalar",
  "dynamic-bias",
  "cope",
  "forgetting",
  "deberta",
  "dape",
  "pope",
  "axial-rope",
  "swin",
  "levit",
  "log-cpb",
  "sinusoidal-2d",
  "axial-learned",
  "learned-grid",
]);
const positionSchema = v.objectWithRest(
  {
    type: schemeType,
    scaling: v.optional(v.record(v.string(), plain)),
    temperature: v.optional(v.record(v.string(), plain)),
  },
  plain,
);
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const switchSchema = v.strictObject({
  position: v.optional(positionSchema),
  window: v.optional(count),
  shift: v.optional(v.pipe(v.number(), v.integer(), v.minValue(-1e9), v.maxValue(1e9))),
  distances: v.optional(
    v.variant("policy", [
      v.strictObject({ policy: v.literal("grouped"), window: count, group: v.optional(count) }),
      v.strictObject({ policy: v.literal("clamped"), window: count }),
    ]),
  ),
  interpolate: v.optional(v.boolean()),
});
