// SPDX-License-Identifier: MIT
// Everything that a visitor can set on the Attention page, as one table: link key, limits and default.

import { pack, unpack, type Notice } from "../state/link.js";
import { pageDefaults, readPageLink, writePageLink, type PageTable, type PageValues } from "../state/page-link.js";
import { kMostTokens, units } from "./tokens.js";

export const kFurthest = 100_000;

export const settingsTable = {
  /** "": the sample of the chosen language */ text: { key: "text", kind: "text", longest: 20_000, fallback: "" },
  unit: { key: "unit", kind: "choice", choices: units, fallback: "words" },
  /** "random", a recorded race by its task, or a kept one by its id */ from: {
    key: "from",
    kind: "text",
    longest: 60,
    fallback: "random",
  },
  /** -1: each encoding with its own model */ model: {
    key: "model",
    kind: "integer",
    minimum: -1,
    maximum: 63,
    fallback: -1,
  },
  layer: { key: "layer", kind: "integer", minimum: 0, maximum: 63, fallback: 0 },
  seed: { key: "seed", kind: "integer", minimum: 0, maximum: 2 ** 31, fallback: 1 },
  heads: { key: "heads", kind: "choice", choices: ["1", "2", "4", "8"], fallback: "4" },
  /** -1: all */ head: { key: "head", kind: "integer", minimum: -1, maximum: 63, fallback: 0 },
  encodings: {
    key: "e",
    kind: "schemes",
    most: 8,
    fallback: [{ type: "sinusoidal" }, { type: "learned" }, { type: "rope" }, { type: "alibi" }],
  },
  offset: { key: "at", kind: "integer", minimum: 0, maximum: kFurthest, fallback: 0 },
  causal: { key: "causal", kind: "flag", fallback: true },
  /** 0: none */ window: { key: "window", kind: "integer", minimum: 0, maximum: kMostTokens, fallback: 0 },
  show: { key: "show", kind: "choice", choices: ["weights", "scores"], fallback: "weights" },
  drawn: { key: "as", kind: "choice", choices: ["matrix", "arcs"], fallback: "matrix" },
  /** the pair that is read out; -1: none */ query: {
    key: "q",
    kind: "integer",
    minimum: -1,
    maximum: kMostTokens - 1,
    fallback: -1,
  },
  key: { key: "k", kind: "integer", minimum: -1, maximum: kMostTokens - 1, fallback: -1 },
} as const satisfies PageTable;

export type Settings = PageValues<typeof settingsTable>;
export const settingsDefaults = (): Settings => pageDefaults(settingsTable);

/** Longer links are cut by some chat programs; a text is deflated behind the one key "z". */
const kReadableLength = 1200;

export function writeSettings(settings: Settings): string {
  const plain = writePageLink(settingsTable, settings);
  return plain.length <= kReadableLength ? plain : pack({ q: plain });
}

export function readSettings(query: string): { values: Settings; notices: Notice[] } {
  const packed = new URLSearchParams(query).get("z");
  if (packed === null) return readPageLink(settingsTable, query);
  const inner = unpack(packed);
  if (inner) return readPageLink(settingsTable, inner.q);
  return { values: settingsDefaults(), notices: [{ kind: "unreadable", key: "z" }] };
}
