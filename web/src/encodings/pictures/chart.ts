// SPDX-License-Identifier: MIT
// What the charts of this page have in common, and the names of saved files.

import type { Curve, LineChartData } from "../../chart/data.js";
import type { Subject } from "../data/subject.js";

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
