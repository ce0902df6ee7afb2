// SPDX-License-Identifier: MIT
// Dials of pairs as drawing and numbers: a hand at its angle, and in shade all angles that training shows.

import { darkTheme, escapeXml, lightTheme, svgDocument } from "../../engine/poslab.js";
import type { Theme } from "../../schemes/looks.js";

export interface Dial {
  pair: number;
  /** cosine and sine of the hand's angle, times the attention factor */ x: number;
  y: number;
  /** radians a position */ frequency: number;
  /** at an angle that training never showed */ outside: boolean;
}

/** The shade: a sector from angle 0 to the last trained one, counter-clockwise, or the whole dial of radius 20. */
export function shadePath(frequency: number, length: number): string {
  const angle = frequency * (length - 1);
  if (!(angle < 2 * Math.PI)) return "M-20 0a20 20 0 1 0 40 0a20 20 0 1 0 -40 0z";
  const [x, y] = [20 * Math.cos(angle), -20 * Math.sin(angle)];
  return `M0 0L20 0A20 20 0 ${angle > Math.PI ? 1 : 0} 0 ${x} ${y}z`;
}

/** End of a hand in a dial of radius 20. */
export const handEnd = ({ x, y }: Pick<Dial, "x" | "y">): { x: number; y: number } => ({ x: 19 * x, y: -19 * y });

/** The warning colour of the page's themes. */
const kOutside: Record<Theme, string> = { light: "#8a3b06", dark: "#ffc18a" };
const kColumns = 8;
const kCell = 64;
const kTop = 44;

export interface DialsDrawing {
  title: string;
  summary: string;
  dials: readonly Dial[];
  /** the trained length */ length: number;
  colour: string;
  theme: Theme;
}

export function dialsSvg({ title, summary, dials, length, colour, theme }: DialsDrawing): string {
  const colours = theme === "dark" ? darkTheme : lightTheme;
  const drawn = dials.map((dial, index) => {
    const place = `translate(${kCell * ((index % kColumns) + 0.5)} ${kTop + kCell * (Math.floor(index / kColumns) + 0.5)})`;
    const end = handEnd(dial);
    return (
      `<g transform="${place}"><circle r="20" fill="none" stroke="${colours.grid}"/>` +
      `<path d="${shadePath(dial.frequency, length)}" fill="${colour}" fill-opacity="0.22"/>` +
      `<line x2="${end.x}" y2="${end.y}" stroke="${dial.outside ? kOutside[theme] : colour}" stroke-width="3" stroke-linecap="round"/>` +
      `<text y="30" font-size="9" text-anchor="middle">${dial.pair}</text></g>`
    );
  });
  const [width, height] = [kColumns * kCell, kTop + kCell * Math.ceil(dials.length / kColumns) + 8];
  const heading = `<text x="12" y="26" font-size="15" font-weight="600">${escapeXml(title)}</text>`;
  return svgDocument(width, height, colours, title, summary, [heading, ...drawn]);
}
