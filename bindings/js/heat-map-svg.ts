// SPDX-License-Identifier: MIT
// Matrices as a heat map in an SVG string: one panel a matrix (a head), one colour scale for all, and a colour bar. Values of
// both signs get a diverging map centred at zero, others a sequential one; neither needs red told from green.
// Cells of one colour are one path, so that even a thousand rows stay a small file; larger matrices are thinned out, and say so.

import { scaleLinear } from "d3-scale";
import { interpolateRdBu, interpolateViridis } from "d3-scale-chromatic";
import { coordinate, escapeXml, lightTheme, svgDocument, type SvgTheme } from "./svg-text.js";

export interface HeatMapPanel {
  title: string;
  rows: number;
  columns: number;
  /** row-major */ data: ArrayLike<number>;
}
export interface HeatMap {
  title: string;
  subtitle?: string;
  /** for those who do not see the picture; default: an English sentence on the range of values */ description?: string;
  rowLabel: string;
  columnLabel: string;
  panels: HeatMapPanel[];
  /** values of the first and the last colour, for pictures to be compared; default: what the panels need */ range?: readonly [
    number,
    number,
  ];
  /** the line below the panels; default: English on the axes, and on what is left out */ notes?: (
    drawn: HeatMapDrawn,
  ) => string;
  theme?: SvgTheme;
}
export interface HeatMapDrawn {
  /** every n-th row and column */ every: number;
  panels: number;
}

/** More cells than this in one picture make a file of many megabytes that nobody can tell apart anyway. */
const kMostCells = 1 << 17;
const kMostPanels = 64;
/** Steps of the colour maps: finer than an eye can tell, coarse enough that neighbours join into runs. */
const kColors = 96;
const kPicture = 960;
const kLargestCell = 28;

interface Scale {
  low: number;
  high: number;
  diverging: boolean;
  color: (step: number) => string;
}

export function heatMapSvg(map: HeatMap): string {
  const theme = map.theme ?? lightTheme;
  const panels = map.panels.slice(0, kMostPanels).map((panel, _, shown) => thin(panel, kMostCells / shown.length));
  const scale = colorScale(panels, map.range);
  const widest = Math.max(1, ...panels.map((panel) => panel.columns));
  const tallest = Math.max(1, ...panels.map((panel) => panel.rows));
  const across = Math.min(panels.length || 1, panels.length > 4 ? 4 : panels.length > 1 ? 2 : 1);
  const side = (kPicture - 56 - 28 * across) / across;
  const cell = cellSize(widest, tallest, side);
  const [panelWidth, panelHeight] = [Math.max(cell.width * widest, 120), cell.height * tallest];
  const down = Math.ceil(panels.length / across);
  const width = Math.max(420, Math.ceil(56 + across * (panelWidth + 28)));
  const top = map.subtitle ? 64 : 44;
  const height = Math.ceil(top + down * (panelHeight + 36) + 76);
  const body = [`<text x="16" y="26" font-size="16" font-weight="600">${escapeXml(map.title)}</text>`];
  if (map.subtitle) body.push(`<text x="16" y="46" fill="${theme.faint}">${escapeXml(map.subtitle)}</text>`);
  panels.forEach((panel, index) => {
    const left = 48 + (index % across) * (panelWidth + 28);
    const upper = top + 18 + Math.floor(index / across) * (panelHeight + 36);
    body.push(...drawPanel(panel, scale, left, upper, cell, theme, index % across === 0 ? map.rowLabel : ""));
  });
  const drawn = { every: Math.max(1, ...panels.map((panel) => panel.every)), panels: panels.length };
  const notes = map.notes?.(drawn) ?? englishNotes(map, drawn);
  body.push(`<text x="48" y="${height - 62}" fill="${theme.faint}">${escapeXml(notes)}</text>`);
  body.push(...colorBar(scale, 48, height - 48, theme));
  const description =
    map.description ?? `${map.panels.length} panels; values from ${short(scale.low)} to ${short(scale.high)}.`;
  return svgDocument(width, height, theme, map.title, description, body);
}

interface CellSize {
  width: number;
  height: number;
}

/** Square cells, unless a matrix is much longer than wide (a table of many positions): then up to four times as wide as tall. */
function cellSize(columns: number, rows: number, side: number): CellSize {
  const width = Math.min(kLargestCell, side / columns),
    height = Math.min(kLargestCell, Math.max(side, 480) / rows);
  const square = Math.min(width, height);
  const stretch = Math.max(rows / columns, columns / rows) > 2 ? 4 : 1;
  return { width: Math.min(width, stretch * square), height: Math.min(height, stretch * square) };
}

function englishNotes(map: HeatMap, { every, panels }: HeatMapDrawn): string {
  return [
    `across: ${map.columnLabel}, down: ${map.rowLabel}`,
    ...(every > 1 ? [`every ${ordinal(every)} row and column is drawn`] : []),
    ...(map.panels.length > panels ? [`the first ${panels} of ${map.panels.length} panels`] : []),
  ].join("; ");
}

function ordinal(number: number): string {
  const teen = Math.floor((number % 100) / 10) === 1;
  return `${number}${teen ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th")}`;
}

/** Every n-th row and column, with the smallest n that leaves at most `most` cells. */
function thin(panel: HeatMapPanel, most: number): HeatMapPanel & { every: number } {
  let every = 1;
  while (Math.ceil(panel.rows / every) * Math.ceil(panel.columns / every) > most) every += 1;
  if (every === 1) return { ...panel, every };
  const [rows, columns] = [Math.ceil(panel.rows / every), Math.ceil(panel.columns / every)];
  const data = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      data[row * columns + column] = panel.data[row * every * panel.columns + column * every]!;
    }
  }
  return { title: panel.title, rows, columns, data, every };
}

function colorScale(panels: readonly HeatMapPanel[], range?: readonly [number, number]): Scale {
  let [low, high] = range ?? rangeOf(panels);
  const diverging = low < 0 && high > 0;
  if (diverging) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  const map = diverging ? (t: number) => interpolateRdBu(1 - t) : interpolateViridis;
  return { low, high, diverging, color: (step) => toHex(map(step / (kColors - 1))) };
}

function rangeOf(panels: readonly HeatMapPanel[]): [number, number] {
  let low = Infinity,
    high = -Infinity;
  for (const { data } of panels) {
    for (let i = 0; i < data.length; i += 1) {
      const value = data[i]!;
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? [0, 0] : [low, high];
}

function toHex(color: string): string {
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color);
  return parts
    ? `#${parts
        .slice(1)
        .map((part) => Number(part).toString(16).padStart(2, "0"))
        .join("")}`
    : color;
}

function drawPanel(
  panel: HeatMapPanel,
  scale: Scale,
  left: number,
  top: number,
  cell: CellSize,
  theme: SvgTheme,
  rowLabel: string,
): string[] {
  // In units of cells, so that coordinates are small whole numbers.
  const runs = new Map<number, string[]>();
  const span = scale.high - scale.low;
  for (let row = 0; row < panel.rows; row += 1) {
    for (let column = 0; column < panel.columns;) {
      const step = stepOf(panel.data[row * panel.columns + column]!, scale, span);
      let end = column + 1;
      while (end < panel.columns && stepOf(panel.data[row * panel.columns + end]!, scale, span) === step) end += 1;
      const list = runs.get(step);
      const run = `M${column} ${row}h${end - column}v1H${column}z`;
      if (list) list.push(run);
      else runs.set(step, [run]);
      column = end;
    }
  }
  const paths = [...runs]
    .sort(([a], [b]) => a - b)
    .map(([step, list]) => `<path fill="${step < 0 ? theme.grid : scale.color(step)}" d="${list.join("")}"/>`);
  const middle = top + (cell.height * panel.rows) / 2;
  return [
    `<text x="${coordinate(left)}" y="${coordinate(top - 5)}" font-size="11">${escapeXml(panel.title)}</text>`,
    ...(rowLabel
      ? [
          `<text x="${left - 12}" y="${coordinate(middle)}" text-anchor="middle" font-size="11" fill="${theme.faint}" transform="rotate(-90 ${left - 12} ${coordinate(middle)})">${escapeXml(rowLabel)}</text>`,
        ]
      : []),
    `<g class="panel" transform="translate(${coordinate(left)} ${coordinate(top)}) scale(${factor(cell.width)} ${factor(cell.height)})" shape-rendering="crispEdges">`,
    ...paths,
    "</g>",
  ];
}

/** The step of the colour scale, -1 for what is hidden (-Infinity) or no number. */
function stepOf(value: number, scale: Scale, span: number): number {
  if (!Number.isFinite(value)) return -1;
  return span === 0 ? 0 : Math.round(Math.min(1, Math.max(0, (value - scale.low) / span)) * (kColors - 1));
}

function colorBar(scale: Scale, left: number, top: number, theme: SvgTheme): string[] {
  const width = 320;
  const out: string[] = [];
  for (let step = 0; step < kColors; step += 1) {
    const [from, to] = [(step * width) / kColors, ((step + 1) * width) / kColors];
    out.push(
      `<rect x="${coordinate(left + from)}" y="${top}" width="${coordinate(to - from + 0.5)}" height="12" fill="${scale.color(step)}"/>`,
    );
  }
  const x = scaleLinear()
    .domain([scale.low, scale.high])
    .range([left, left + width]);
  const ticks = scale.low === scale.high ? [scale.low] : x.ticks(5);
  for (const tick of ticks) {
    out.push(
      `<text x="${coordinate(x(tick))}" y="${top + 28}" text-anchor="middle" font-size="11" fill="${theme.faint}">${short(tick)}</text>`,
    );
  }
  return out;
}

function factor(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
