// SPDX-License-Identifier: MIT
// One colour and one dash pattern a scheme, the same in every picture. The colours are told apart with the common kinds
// of colour blindness (after Okabe & Ito, and Paul Tol's muted set, darkened to 3:1 against white); dashes are the second cue.

import { named } from "./named.js";

export interface CurveStyle {
  color: string;
  /** SVG stroke-dasharray; "" is a solid line */ dash: string;
}

const styles: Record<string, CurveStyle> = {
  none: { color: "#6f6f6f", dash: "1 4" },
  sinusoidal: { color: "#c77c02", dash: "" },
  learned: { color: "#b3558c", dash: "8 4" },
  shaw: { color: "#2f94cc", dash: "10 3 2 3" },
  "transformer-xl": { color: "#332288", dash: "12 4" },
  t5: { color: "#00875f", dash: "5 3" },
  rope: { color: "#0060a8", dash: "" },
  alibi: { color: "#c8501e", dash: "3 3" },
  xpos: { color: "#882255", dash: "9 3 3 3" },
  kerple: { color: "#83831f", dash: "6 3 1 3 1 3" },
  fire: { color: "#a82f2f", dash: "" },
  sandwich: { color: "#6b5a2e", dash: "7 3" },
  tisa: { color: "#4a7d94", dash: "4 3 1 3" },
  "relative-scalar": { color: "#7b6fc9", dash: "2 3" },
  "dynamic-bias": { color: "#3d7a3d", dash: "10 4 2 4" },
  cope: { color: "#9c3fa0", dash: "5 2" },
  forgetting: { color: "#5d4a9c", dash: "8 2 2 2" },
  deberta: { color: "#1f7a8c", dash: "12 3 3 3" },
  dape: { color: "#94591f", dash: "3 2" },
  pope: { color: "#b0325c", dash: "9 3" },
  "axial-rope": { color: "#2d6f9e", dash: "11 2 3 2" },
  swin: { color: "#7d5ba6", dash: "6 2 2 2" },
  levit: { color: "#5c7a29", dash: "2 2 6 2" },
  "log-cpb": { color: "#a05252", dash: "8 3 1 3" },
  "sinusoidal-2d": { color: "#a86a1c", dash: "4 2 1 2" },
  "axial-learned": { color: "#94487f", dash: "10 2 1 2" },
  "learned-grid": { color: "#8a3f63", dash: "3 1 3 4" },
};

/** For a scheme without an entry, and for the second curve of the same scheme. */
const spare: CurveStyle[] = [
  { color: "#44776f", dash: "2 2" },
  { color: "#7a5195", dash: "7 2 2 2" },
  { color: "#8c564b", dash: "4 2" },
  { color: "#1b6ca8", dash: "1 3 5 3" },
  { color: "#a3006d", dash: "14 3" },
  { color: "#4b6b00", dash: "2 4 8 4" },
];

/** A style for each of the named schemes, in order; none twice while there are styles left. */
export function curveStyles(types: readonly string[]): CurveStyle[] {
  const used = new Set<string>();
  let next = 0;
  return types.map((type) => {
    const own = named(styles, type);
    const style = own && !used.has(type) ? own : spare[next++ % spare.length]!;
    used.add(type);
    return style;
  });
}
