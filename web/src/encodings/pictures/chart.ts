// SPDX-License-Identifier: MIT
// What the charts of this page have in common, the names of saved files, and the JavaScript that computes a picture.

import type { Curve, LineChartData } from "../../chart/data.js";
import type { Subject } from "../data/subject.js";
import { schemeText } from "../use/snippets.js";

type Given = Pick<LineChartData, "title" | "xLabel" | "yLabel" | "curves"> & Partial<LineChartData>;

/** A chart over positions or distances, linear unless said otherwise. */
export const lineChart = (given: Given): LineChartData => ({
  xScale: "linear",
  horizontals: [],
  formatX: String,
  formatY: String,
  dots: false,
  ...given,
});

export const solid = (id: string, label: string, colour: string, points: Curve["points"]): Curve => ({
  id,
  label,
  colour,
  dash: [],
  atTest: false,
  points,
});

export function fileName(subject: Subject, what: string): string {
  const { length, dim, headDim, heads } = subject.sizes;
  const size = subject.hooks.includes("embedding") ? `dim${dim}` : `heads${heads}-headDim${headDim}`;
  return `poslab-${subject.scheme.type}-${what}-L${length}-${size}`.replace(/[^\w.-]+/g, "_");
}

/** A program that ends with the numbers of a picture in `data`; `call` may use lab and position. */
export function pictureScript({ scheme, sizes, learned }: Subject, ...call: string[]): string {
  const { length, dim, heads, headDim, seed } = sizes;
  const draw = `lab.startParameters(scheme, { length: ${length}, dim: ${dim}, heads: ${heads}, headDim: ${headDim}, seed: ${seed} })`;
  return [
    'import { loadPosLab } from "poslab";',
    "",
    "const lab = await loadPosLab();",
    ...(learned.length > 0
      ? [`const scheme = ${schemeText(scheme)};`, `const position = { ...scheme, ...${draw} };`]
      : [`const position = ${schemeText(scheme)};`]),
    ...call,
    "",
  ].join("\n");
}
