// SPDX-License-Identifier: MIT
// Paints a matrix: one pixel a cell into an image of the matrix's own size, stretched onto the canvas by the browser. So
// four million cells cost one pass over them and no node each.

import type { Theme } from "../schemes/looks.js";
import { colourTable, kColours, pixelOf, type ColourRange } from "./colours.js";
import type { MatrixData } from "./matrix.js";

export function paintMatrix(
  canvas: HTMLCanvasElement,
  matrix: MatrixData,
  range: ColourRange,
  {
    theme,
    bare,
    width,
    height,
  }: { theme: Theme; /** colour of bare cells */ bare: string; width: number; height: number },
): void {
  const { rows, columns, data } = matrix;
  const ratio = devicePixelRatio;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  if (rows === 0 || columns === 0) return;
  const colours = colourTable(range.kind, theme);
  const empty = pixelOf(bare);
  const scale = (kColours - 1) / (range.high - range.low || 1);
  const picture = new ImageData(columns, rows);
  const pixels = new Uint32Array(picture.data.buffer);
  for (let index = 0; index < pixels.length; index += 1) {
    const value = data[index]!;
    const step = Math.round((value - range.low) * scale);
    // NaN and -Infinity fail both comparisons.
    pixels[index] = Number.isFinite(value) ? colours[step < 0 ? 0 : step >= kColours ? kColours - 1 : step]! : empty;
  }
  const image = new OffscreenCanvas(columns, rows);
  image.getContext("2d")!.putImageData(picture, 0, 0);
  const context = canvas.getContext("2d")!;
  // Enlarged cells have sharp edges, shrunken ones are averaged.
  context.imageSmoothingEnabled = columns > canvas.width || rows > canvas.height;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
}
