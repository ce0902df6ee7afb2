// SPDX-License-Identifier: MIT
// What can be set on the Encodings page beside the scheme's own fields, as one table: the address carries what differs.

import { pageDefaults, type PageTable, type PageValues } from "../state/page-link.js";

export const settings = {
  length: { key: "L", kind: "integer", minimum: 4, maximum: 512, fallback: 64 },
  dim: { key: "dim", kind: "integer", minimum: 2, maximum: 256, fallback: 32 },
  heads: { key: "heads", kind: "integer", minimum: 1, maximum: 16, fallback: 4 },
  headDim: { key: "headDim", kind: "integer", minimum: 2, maximum: 256, fallback: 32 },
  seed: { key: "seed", kind: "integer", minimum: 0, maximum: 2 ** 31, fallback: 1 },
  /** the scheme's fields that differ from its defaults */ own: { key: "p", kind: "schemes", most: 1, fallback: [] },
  /** the scheme beside it */ beside: { key: "with", kind: "schemes", most: 1, fallback: [] },
} as const satisfies PageTable;

export type Settings = PageValues<typeof settings>;
export const sizeNames = ["length", "dim", "heads", "headDim", "seed"] as const;
export type SizeName = (typeof sizeNames)[number];
export type Sizes = Pick<Settings, SizeName>;

export const settingsDefaults = pageDefaults(settings);
