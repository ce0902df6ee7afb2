// SPDX-License-Identifier: MIT
// Pictures of the page as SVG documents, drawn by the package: what is saved looks like what the command saves.

import { heatMapSvg } from "../../../bindings/js/heat-map-svg.js";
import type { LineChartData } from "../chart/data.js";
import type { Dictionary } from "../language/english.js";
import type { ColourRange } from "../matrix/colours.js";
import type { MatrixData } from "../matrix/matrix.js";
import type { Theme } from "../schemes/looks.js";
import { chartSvg, darkTheme, lightTheme } from "./poslab.js";

const themes = { light: lightTheme, dark: darkTheme };

interface Words {
  subtitle: string;
  /** one sentence for those who do not see the picture */ summary: string;
}
export interface MatrixDrawing extends Words {
  title: string;
  matrix: MatrixData;
  range: ColourRange;
  words: Dictionary;
  theme: Theme;
}

export function heatMapDrawing(drawing: MatrixDrawing): string {
  const { title, subtitle, summary, matrix, range, words, theme } = drawing;
  const { rows, columns, data, rowLabel, columnLabel } = matrix;
  return heatMapSvg({
    title,
    subtitle,
    description: summary,
    rowLabel,
    columnLabel,
    panels: [{ title: "", rows, columns, data }],
    range: [range.low, range.high],
    notes: ({ every }) =>
      [words.matrix.axes(rowLabel, columnLabel), ...(every > 1 ? [words.matrix.thinned(String(every))] : [])].join(
        words.punctuation.sentence,
      ),
    theme: themes[theme],
  });
}

export function chartDrawing(chart: LineChartData, { subtitle, summary }: Words, theme: Theme): string {
  return chartSvg({
    title: chart.title,
    subtitle,
    description: summary,
    xLabel: chart.xLabel,
    yLabel: chart.yLabel,
    xScale: chart.xScale,
    formatX: chart.formatX,
    formatY: chart.formatY,
    curves: chart.curves.map((curve) => ({
      label: curve.label,
      color: curve.colour,
      dash: curve.dash.join(" "),
      width: curve.atTest ? 1.5 : 2.25,
      marker: chart.dots ? (curve.atTest ? "triangle" : "circle") : "none",
      points: [...curve.points],
    })),
    ...(chart.vertical ? { verticalLine: chart.vertical } : {}),
    horizontalLines: [...chart.horizontals],
    ...(chart.includeY ? { rangeY: [Math.min(...chart.includeY), Math.max(...chart.includeY)] } : {}),
    theme: themes[theme],
  });
}
