// SPDX-License-Identifier: MIT
// Paints the map: one pixel column after the other, since a bin is wide at the left and narrow at the right.

import { interpolateViridis } from "d3-scale-chromatic";
import { positionAt, type MapRow } from "./rows.js";

export interface MapGeometry {
  /** CSS pixels */ width: number;
  rowHeight: number;
  /** first position of the axis, and the last */ first: number;
  reach: number;
  /** losses of the darkest and the brightest colour */ range: readonly [number, number];
}

/** Bare space between rows, in CSS pixels. */
export const kRowGap = 2;

export function paint(canvas: HTMLCanvasElement, rows: readonly MapRow[], geometry: MapGeometry): void {
  const { width, rowHeight, first, reach, range } = geometry;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = rows.length * rowHeight * ratio;
  const context = canvas.getContext("2d")!;
  rows.forEach((row, index) => {
    for (let x = 0; x < canvas.width; x += 1) {
      const bin = Math.floor(positionAt((x + 0.5) / canvas.width, first, reach) / row.binWidth);
      const value = row.values[bin];
      if (typeof value !== "number") continue;
      context.fillStyle = interpolateViridis(Math.min(1, Math.max(0, (value - range[0]) / (range[1] - range[0]))));
      context.fillRect(x, index * rowHeight * ratio, 1, (rowHeight - kRowGap) * ratio);
    }
  });
}
