// SPDX-License-Identifier: MIT
// How an encoding looks wherever it is drawn: one accent colour a scheme, light and dark, and a line dash as a second
// cue. The colours keep apart under protanopia and deuteranopia (looks.test.ts measures it); the same scheme a second
// time keeps its hue and changes lightness and dash.

import { curveStyles, type Encoding, type Position } from "../engine/poslab.js";

export type SchemeType = Position["type"];
export type Theme = "light" | "dark";

export interface Look {
  colour: string;
  /** canvas line dash; empty is a solid line */ dash: readonly number[];
}

/** The dark theme's shades of the hues in the package's pictures (scheme-style.ts has the light ones and the dashes). */
const darkColours: Record<SchemeType, string> = {
  none: "#a8a8b0",
  sinusoidal: "#f2b13c",
  learned: "#ee9acb",
  shaw: "#9fe0f0",
  "transformer-xl": "#b0a4ff",
  t5: "#35cf9d",
  rope: "#5fa8f5",
  alibi: "#ff8a5c",
  kerple: "#cfcf5a",
  xpos: "#e07fa6",
  fire: "#f07070",
  sandwich: "#c9b27a",
  tisa: "#8fc3d9",
  "relative-scalar": "#b8b0f0",
  "dynamic-bias": "#86cc86",
  cope: "#d58be0",
  forgetting: "#a898f0",
  deberta: "#6cc7d9",
  dape: "#dca26a",
  pope: "#f08bb0",
  "axial-rope": "#86bdea",
  swin: "#bfa2e6",
  levit: "#a9cc70",
  "log-cpb": "#e09a9a",
  "sinusoidal-2d": "#e8b877",
  "axial-learned": "#dd9ccb",
  "learned-grid": "#d992b4",
};

export const schemeNames = Object.keys(darkColours) as SchemeType[];

/** Curves measured "at test time" share this dash; ends are marked too, so that it is never the only cue. */
export const atTestDash: readonly number[] = [2, 3];

export function isSchemeType(type: string): type is SchemeType {
  return Object.hasOwn(darkColours, type);
}

/** One look an encoding; the n-th time that a scheme occurs it moves away from the page's background. */
export function encodingLooks(encodings: readonly Encoding[], theme: Theme): Look[] {
  const seen = new Map<string, number>();
  return encodings.map((encoding) => {
    const times = seen.get(encoding.type) ?? 0;
    seen.set(encoding.type, times + 1);
    const style = curveStyles([encoding.type])[0]!;
    const dash = style.dash === "" ? [] : style.dash.split(" ").map(Number);
    const colour = theme === "light" ? style.color : darkColours[encoding.type];
    return { colour: shade(colour, times, theme), dash: times === 0 ? dash : [...dash, 6, 2 + times, 1, 2 + times] };
  });
}

/** Mixes towards black or white: contrast against the background only grows. */
function shade(base: string, times: number, theme: Theme): string {
  if (times === 0) return base;
  const amount = Math.min(0.3 * times, 0.75);
  const target = theme === "light" ? 0 : 255;
  const channels = [1, 3, 5].map((at) => Number.parseInt(base.slice(at, at + 2), 16));
  return `#${channels
    .map((c) =>
      Math.round(c + (target - c) * amount)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}
