// SPDX-License-Identifier: MIT
// Draws arcs: on canvas for the screen, as an SVG document to be saved.

import { darkTheme, escapeXml, isWide, lightTheme, svgDocument } from "../engine/poslab.js";
import type { Theme } from "../schemes/looks.js";
import { arcOpacity, arcPath, arcWidth, tokenPlace, type Arc, type ArcFrame } from "./arcs.js";

export interface PlacedFrame extends ArcFrame {
  height: number;
  /** tokens are written beside their place, from the top down */ upright: boolean;
  /** every n-th token is written */ every: number;
}

const kLetter = 8;
const kWideLetter = 13;
const kLine = 15;
const kMostLabel = 84;

/** As much of a token as there is room for, and how wide it is in pixels. */
export function shortened(name: string): { text: string; width: number } {
  let text = "";
  let width = 0;
  for (const letter of name) {
    const wide = isWide(letter) ? kWideLetter : kLetter;
    if (width + wide > kMostLabel) break;
    text += letter;
    width += wide;
  }
  return { text, width };
}

/** Space above the tokens for what looks back, below them for what looks ahead, and their names at the very bottom. */
export function frameOf(names: readonly string[], width: number, causal: boolean): PlacedFrame {
  const tokens = Math.max(1, names.length);
  const pitch = width / tokens;
  const longest = Math.max(kLetter, ...names.map((name) => shortened(name).width));
  const upright = longest > pitch - 4;
  const rise = Math.round(Math.min(260, Math.max(70, width * 0.45)));
  const fall = causal ? 0 : Math.round(rise / 2);
  const labels = upright ? longest + 8 : kLine + 8;
  return {
    tokens,
    width,
    rise,
    fall,
    height: rise + fall + labels,
    upright,
    every: Math.ceil(kLine / Math.max(pitch, 0.1)),
  };
}

interface Painting {
  arcs: readonly Arc[];
  frame: PlacedFrame;
  names: readonly string[];
  query: number | null;
  colours: { line: string; text: string; muted: string };
  font: string;
}

export function paintArcs(canvas: HTMLCanvasElement, { arcs, frame, names, query, colours, font }: Painting): void {
  const ratio = devicePixelRatio;
  canvas.width = Math.max(1, Math.round(frame.width * ratio));
  canvas.height = Math.max(1, Math.round(frame.height * ratio));
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  context.strokeStyle = colours.line;
  for (const arc of arcs) {
    context.globalAlpha = arcOpacity(arc.weight);
    context.lineWidth = arcWidth(arc.weight);
    context.stroke(new Path2D(arcPath(frame, arc)));
  }
  context.globalAlpha = 1;
  context.font = `12px ${font}`;
  names.forEach((name, index) => {
    if (index % frame.every !== 0 && index !== query) return;
    context.fillStyle = query === null || index === query ? colours.text : colours.muted;
    const [x, y] = [tokenPlace(frame, index), frame.rise + frame.fall + 6];
    context.save();
    context.translate(x, y);
    if (frame.upright) context.rotate(Math.PI / 2);
    context.textAlign = frame.upright ? "left" : "center";
    context.textBaseline = frame.upright ? "middle" : "top";
    context.fillText(shortened(name).text, 0, 0);
    context.restore();
  });
}

export interface ArcsDrawing {
  title: string;
  arcs: readonly Arc[];
  names: readonly string[];
  query: number | null;
  causal: boolean;
  colour: string;
  theme: Theme;
}

const kWidth = 960;
const kTop = 44;

export function arcsSvg({ title, arcs, names, query, causal, colour, theme }: ArcsDrawing): string {
  const colours = theme === "dark" ? darkTheme : lightTheme;
  const frame = frameOf(names, kWidth - 32, causal);
  const paths = arcs.map(
    (arc) =>
      `<path class="arc" d="${arcPath(frame, arc)}" stroke-width="${arcWidth(arc.weight).toFixed(2)}" stroke-opacity="${arcOpacity(arc.weight).toFixed(3)}"/>`,
  );
  const labels = names.flatMap((name, index) => {
    if (index % frame.every !== 0 && index !== query) return [];
    const [x, y] = [tokenPlace(frame, index).toFixed(1), frame.rise + frame.fall + 8];
    const place = frame.upright
      ? `transform="translate(${x} ${y}) rotate(90)" dominant-baseline="central"`
      : `x="${x}" y="${y + 8}" text-anchor="middle"`;
    return `<text ${place}${index === query ? ' font-weight="600"' : ""}>${escapeXml(shortened(name).text)}</text>`;
  });
  const body = [
    `<text x="16" y="26" font-size="16" font-weight="600">${escapeXml(title)}</text>`,
    `<g transform="translate(16 ${kTop})"><g fill="none" stroke="${colour}">${paths.join("")}</g>`,
    `<g font-size="12">${labels.join("")}</g></g>`,
  ];
  return svgDocument(kWidth, kTop + frame.height + 12, colours, title, title, body);
}
