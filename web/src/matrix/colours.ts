// SPDX-License-Identifier: MIT
// Colours of matrices: a sequential map for values of one sign, a diverging one centred at zero for both. Neither needs
// red told from green; in the dark the middle of the diverging map is dark.

import { scaleLinear } from "d3-scale";
import { interpolateRdBu, interpolateViridis } from "d3-scale-chromatic";
import type { Theme } from "../schemes/looks.js";

export type MapKind = "sequential" | "diverging";

export const kColours = 256;

const darkDiverging = scaleLinear<string>()
  .domain([0, 0.25, 0.5, 0.75, 1])
  .range(["#8cc8ff", "#2f72b8", "#24262d", "#b8552a", "#ffb287"])
  .clamp(true);

/** The colour of a share 0..1 of the range. */
export function colourOf(kind: MapKind, theme: Theme, share: number): string {
  if (kind === "sequential") return interpolateViridis(share);
  return theme === "dark" ? darkDiverging(share) : interpolateRdBu(1 - share);
}

const tables = new Map<string, Uint32Array>();

/** All colours of a map as pixels of ImageData. */
export function colourTable(kind: MapKind, theme: Theme): Uint32Array {
  const key = `${kind} ${theme}`;
  let table = tables.get(key);
  if (!table) {
    table = Uint32Array.from({ length: kColours }, (_, index) =>
      pixelOf(colourOf(kind, theme, index / (kColours - 1))),
    );
    tables.set(key, table);
  }
  return table;
}

/** "rgb(1, 2, 3)" or "#010203" as a little-endian pixel. */
export function pixelOf(colour: string): number {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  const parts = hex ? hex.slice(1).map((part) => Number.parseInt(part, 16)) : colour.match(/\d+(\.\d+)?/g)!.map(Number);
  const [red, green, blue] = parts.map(Math.round) as [number, number, number];
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

export interface ColourRange {
  kind: MapKind;
  low: number;
  high: number;
  /** where there are values past the ends, drawn in the last colour */ beyond?: "above" | "both";
}

/** The range of what is finite: centred at zero when there are both signs, or when `kind` asks for it. */
export function rangeOf(lists: readonly ArrayLike<number>[], kind?: MapKind): ColourRange {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (let index = 0; index < list.length; index += 1) {
      const value = list[index]!;
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) [low, high] = [0, 0];
  if ((kind ?? (low < 0 && high > 0 ? "diverging" : "sequential")) === "diverging") {
    const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return { kind: "diverging", low: -reach, high: reach };
  }
  return low === high ? { kind: "sequential", low: low - 0.5, high: high + 0.5 } : { kind: "sequential", low, high };
}
