// SPDX-License-Identifier: MIT
// A line chart as an SVG string: curves with bands over a logarithmic or linear x axis, reference lines and a legend. It knows nothing
// of encodings or experiments (see extrapolation-chart.ts) and needs no document, so the command line and the page share it.

import { scaleLinear, scaleLog, type ScaleContinuousNumeric } from "d3-scale";
import { area, line } from "d3-shape";
import { shortNames } from "./short-names.js";
import { coordinate, escapeXml, groupedDigits, lightTheme, svgDocument, textWidth, type SvgTheme } from "./svg-text.js";

export interface ChartPoint {
  x: number;
  /** null: not defined, the curve has a gap */ y: number | null;
  low?: number;
  high?: number;
}
export interface ChartCurve {
  label: string;
  color: string;
  /** SVG stroke-dasharray, "" for solid */ dash: string;
  /** default 2 */ width?: number;
  marker: "circle" | "square" | "triangle" | "diamond" | "none";
  points: ChartPoint[];
  /** after the label in the legend: why there is nothing to see, or where it ends */ note?: string;
}
export interface Chart {
  title: string;
  subtitle?: string;
  /** for those who do not see the picture; default: an English sentence on the ends of each curve */ description?: string;
  xLabel: string;
  yLabel: string;
  /** default "log", to base 2 */ xScale?: "log" | "linear";
  curves: ChartCurve[];
  verticalLine?: { x: number; label: string };
  horizontalLines?: { y: number; label: string }[];
  /** default: digits in groups of three, "1,024" */ formatX?: (value: number) => string;
  formatY: (value: number) => string;
  /** the y axis runs exactly from the first to the second (shares: 0 to 1); default: what the curves need */ rangeY?: readonly [
    number,
    number,
  ];
  /** default 960 */ width?: number;
  /** default 540 */ height?: number;
  theme?: SvgTheme;
}

interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: ScaleContinuousNumeric<number, number>;
  y: ScaleContinuousNumeric<number, number>;
  theme: SvgTheme;
}

const kLegendWidth = 232;
const kLegendLine = 20;
/** Room for one tick label on the x axis; nearer ones are left out. */
const kTickRoom = 34;

export function chartSvg(chart: Chart): string {
  const width = chart.width ?? 960;
  const legendLines = chart.curves.reduce((lines, curve) => lines + (curve.note ? 2 : 1), 0);
  const height = Math.max(chart.height ?? 540, 100 + legendLines * kLegendLine);
  const theme = chart.theme ?? lightTheme;
  const frame = makeFrame(chart, width, height, theme);
  const description =
    chart.description ??
    `${chart.yLabel} against ${chart.xLabel}. ` + chart.curves.map((curve) => describeCurve(curve, chart)).join(" ");
  return svgDocument(width, height, theme, chart.title, description, [
    `<text x="16" y="26" font-size="16" font-weight="600">${escapeXml(chart.title)}</text>`,
    ...(chart.subtitle ? [`<text x="16" y="46" fill="${theme.faint}">${escapeXml(chart.subtitle)}</text>`] : []),
    ...axes(chart, frame),
    ...referenceLines(chart, frame),
    ...chart.curves.map((curve) => drawBand(curve, frame)),
    ...chart.curves.map((curve) => drawCurve(curve, frame)),
    ...referenceLabels(chart, frame),
    ...legend(chart, frame),
  ]);
}

function makeFrame(chart: Chart, width: number, height: number, theme: SvgTheme): Frame {
  const points = chart.curves.flatMap((curve) => curve.points);
  const xs = points
    .map((point) => point.x)
    .concat(chart.verticalLine ? [chart.verticalLine.x] : [])
    .filter((x) => x > 0 || chart.xScale === "linear");
  const ys = points.flatMap((point) =>
    point.y === null ? [] : [point.y, point.low ?? point.y, point.high ?? point.y],
  );
  let [xMin, xMax] = xs.length ? [Math.min(...xs), Math.max(...xs)] : [1, 2];
  let [yMin, yMax] = ys.length ? [Math.min(...ys), Math.max(...ys)] : [0, 1];
  // A reference line just above the curves is worth the room; one far away would squash them.
  for (const { y } of chart.horizontalLines ?? []) {
    const reach = 0.35 * Math.max(yMax - yMin, 0.1);
    if (y > yMax && y <= yMax + reach) yMax = y;
    if (y < yMin && y >= yMin - reach) yMin = y;
  }
  if (xMin === xMax) [xMin, xMax] = chart.xScale === "linear" ? [xMin - 1, xMax + 1] : [xMin / 2, xMax * 2];
  if (yMin === yMax) [yMin, yMax] = [yMin - 0.5, yMax + 0.5];
  const frame = { left: 64, right: width - kLegendWidth - 16, top: 66, bottom: height - 52, theme };
  const pad = 0.04 * (yMax - yMin);
  return {
    ...frame,
    x: (chart.xScale === "linear" ? scaleLinear() : scaleLog().base(2))
      .domain([xMin, xMax])
      .range([frame.left + 12, frame.right - 12]),
    y: chart.rangeY
      ? scaleLinear().domain(chart.rangeY).range([frame.bottom, frame.top]).clamp(true)
      : scaleLinear()
          .domain([yMin - pad, yMax + pad])
          .range([frame.bottom, frame.top])
          .nice(6),
  };
}

function axes(chart: Chart, { left, right, top, bottom, x, y, theme }: Frame): string[] {
  const out: string[] = [];
  for (const tick of y.ticks(6)) {
    const at = coordinate(y(tick));
    out.push(`<line x1="${left}" x2="${right}" y1="${at}" y2="${at}" stroke="${theme.grid}"/>`);
    out.push(
      `<text x="${left - 8}" y="${at}" dy="0.32em" text-anchor="end" fill="${theme.faint}">${escapeXml(chart.formatY(tick))}</text>`,
    );
  }
  for (const tick of xTicks(chart, x)) {
    const at = coordinate(x(tick));
    out.push(`<line x1="${at}" x2="${at}" y1="${bottom}" y2="${bottom + 5}" stroke="${theme.faint}"/>`);
    out.push(
      `<text x="${at}" y="${bottom + 18}" text-anchor="middle" fill="${theme.faint}">${escapeXml(formatX(chart)(tick))}</text>`,
    );
  }
  out.push(`<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="${theme.faint}"/>`);
  out.push(`<text x="${(left + right) / 2}" y="${bottom + 40}" text-anchor="middle">${escapeXml(chart.xLabel)}</text>`);
  const middle = (top + bottom) / 2;
  out.push(
    `<text x="18" y="${middle}" text-anchor="middle" transform="rotate(-90 18 ${middle})">${escapeXml(chart.yLabel)}</text>`,
  );
  return out;
}

/** The x values that were measured, as far as their labels have room; the ends, the vertical line and its doublings go first. */
function xTicks(chart: Chart, x: ScaleContinuousNumeric<number, number>): number[] {
  if (chart.xScale === "linear") return x.ticks(8);
  const all = [...new Set(chart.curves.flatMap((curve) => curve.points.map((point) => point.x)))].sort((a, b) => a - b);
  const unit = chart.verticalLine?.x ?? all[0] ?? 1;
  const doublings = all.filter((value) => Number.isInteger(Math.log2(value / unit)));
  const first = [chart.verticalLine?.x, all[0], all.at(-1), ...doublings].filter((value) => value !== undefined);
  const shown: number[] = [];
  for (const value of [...first, ...all]) {
    if (shown.every((other) => Math.abs(x(other) - x(value)) >= kTickRoom)) shown.push(value);
  }
  return shown.sort((a, b) => a - b);
}

function referenceLines(chart: Chart, frame: Frame): string[] {
  const { left, right, top, bottom, x, theme } = frame;
  const out = referencesInside(chart, frame).map(
    ({ at }) =>
      `<line class="reference" x1="${left}" x2="${right}" y1="${coordinate(at)}" y2="${coordinate(at)}" stroke="${theme.faint}" stroke-dasharray="1 3"/>`,
  );
  if (chart.verticalLine) {
    const at = coordinate(x(chart.verticalLine.x));
    out.push(
      `<line class="trained-length" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}" stroke="${theme.text}" stroke-width="1.25"/>`,
    );
    out.push(
      `<text x="${at}" y="${top - 5}" text-anchor="start" font-size="11">${escapeXml(chart.verticalLine.label)}</text>`,
    );
  }
  return out;
}

const referencesInside = (
  { horizontalLines = [] }: Chart,
  { top, bottom, y }: Frame,
): { at: number; label: string }[] =>
  horizontalLines.map(({ y: value, label }) => ({ at: y(value), label })).filter(({ at }) => at >= top && at <= bottom);

/** Names of the lines, above the curves and with a rim, so that they can be read wherever curves are. */
const referenceLabels = (chart: Chart, frame: Frame): string[] =>
  referencesInside(chart, frame).map(
    ({ at, label }) =>
      `<text x="${frame.right - 4}" y="${coordinate(at - 4)}" text-anchor="end" font-size="11" fill="${frame.theme.faint}" stroke="${frame.theme.background}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">${escapeXml(label)}</text>`,
  );

function drawBand(curve: ChartCurve, { x, y }: Frame): string {
  const shape = area<ChartPoint>()
    .defined((point) => point.y !== null && point.low !== undefined && point.high !== undefined)
    .x((point) => x(point.x))
    .y0((point) => y(point.low!))
    .y1((point) => y(point.high!))
    .digits(2);
  const path = shape(curve.points);
  return path ? `<path class="band" d="${path}" fill="${curve.color}" fill-opacity="0.16"/>` : "";
}

function drawCurve(curve: ChartCurve, { x, y }: Frame): string {
  const path = line<ChartPoint>()
    .defined((point) => point.y !== null)
    .x((point) => x(point.x))
    .y((point) => y(point.y!))
    .digits(2)(curve.points);
  const markers = curve.points
    .filter((point) => point.y !== null)
    .map((point) => marker(curve, x(point.x), y(point.y!)));
  return [
    `<g class="curve" data-label="${escapeXml(curve.label)}">`,
    ...(path ? [stroke(curve, `<path d="${path}" fill="none"`)] : []),
    ...markers,
    "</g>",
  ].join("\n");
}

function stroke(curve: ChartCurve, element: string): string {
  const dash = curve.dash ? ` stroke-dasharray="${curve.dash}"` : "";
  return `${element} stroke="${curve.color}" stroke-width="${curve.width ?? 2}" stroke-linejoin="round"${dash}/>`;
}

function marker(curve: ChartCurve, x: number, y: number): string {
  const [cx, cy] = [coordinate(x), coordinate(y)];
  switch (curve.marker) {
    case "none":
      return "";
    case "circle":
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${curve.color}"/>`;
    case "square":
      return `<path d="M${cx} ${cy}m-3-3h6v6h-6z" fill="${curve.color}"/>`;
    case "triangle":
      return `<path d="M${cx} ${cy}m0-4l3.6 6.4h-7.2z" fill="${curve.color}"/>`;
    case "diamond":
      return `<path d="M${cx} ${cy}m0-4l4 4l-4 4l-4-4z" fill="${curve.color}"/>`;
  }
}

function legend(chart: Chart, { right, top, theme }: Frame): string[] {
  const left = right + 20;
  const out: string[] = [];
  const labels = shortNames(
    chart.curves.map((curve) => curve.label),
    fitsBesideLine,
  );
  let y = top + 8;
  for (const [index, curve] of chart.curves.entries()) {
    out.push(stroke(curve, `<line x1="${left}" x2="${left + 32}" y1="${y}" y2="${y}"`), marker(curve, left + 16, y));
    out.push(`<text x="${left + 40}" y="${y}" dy="0.32em">${escapeXml(labels[index]!)}</text>`);
    if (curve.note) {
      y += kLegendLine - 4;
      out.push(
        `<text x="${left + 40}" y="${y}" dy="0.32em" font-size="11" fill="${theme.faint}">${escapeXml(shortNames([curve.note], fitsBesideLine)[0]!)}</text>`,
      );
    }
    y += kLegendLine;
  }
  return out;
}

/** At 12 px. */
const fitsBesideLine = (text: string): boolean => textWidth(text, 1, 2) <= 30;

function describeCurve(curve: ChartCurve, chart: Chart): string {
  const known = curve.points.filter((point) => point.y !== null);
  const first = known[0],
    last = known.at(-1);
  if (!first || !last) return `${curve.label}: nothing measured.`;
  const [from, to] = [first.x, last.x].map(formatX(chart));
  return `${curve.label}: ${chart.formatY(first.y!)} at ${from}, ${chart.formatY(last.y!)} at ${to}.`;
}

const formatX = (chart: Chart): ((value: number) => string) => chart.formatX ?? groupedDigits;
