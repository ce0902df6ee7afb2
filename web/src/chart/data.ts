// SPDX-License-Identifier: MIT
// A line chart as plain data, and what can be said of it without drawing: rows for the table, aligned columns for uPlot,
// a summary for screen readers, places for the labels at the right-hand ends of curves.

export interface CurvePoint {
  x: number;
  y: number;
  /** lowest and highest seed */ low?: number;
  high?: number;
}
export interface Curve {
  id: string;
  label: string;
  /** at the curve's end, where there is little room; default: the label */ endLabel?: string;
  colour: string;
  dash: readonly number[];
  /** measured at test time on trained weights: thinner */ atTest: boolean;
  /** by rising x; a curve that is not defined further on simply ends */ points: readonly CurvePoint[];
  /** the tested range goes on but this curve does not */ endsEarly?: boolean;
}
export interface LineChartData {
  title: string;
  xLabel: string;
  yLabel: string;
  xScale: "log" | "linear";
  curves: readonly Curve[];
  vertical?: { x: number; label: string };
  horizontals: readonly { y: number; label: string }[];
  formatX: (value: number) => string;
  formatY: (value: number) => string;
  /** the y axis reaches at least this far */ includeY?: readonly number[];
  xRange?: readonly [number, number];
  /** draw a dot at each point */ dots: boolean;
}

/** Columns as uPlot wants them: all x, then y, low and high of each curve. `undefined` keeps a line going, null ends it. */
export function align(curves: readonly Curve[]): { x: number[]; columns: (number | null | undefined)[][] } {
  const x = [...new Set(curves.flatMap((curve) => curve.points.map((point) => point.x)))].sort((a, b) => a - b);
  const row = new Map(x.map((value, index) => [value, index]));
  const columns = curves.flatMap((curve) => {
    const y = new Array<number | null | undefined>(x.length).fill(undefined);
    const low = new Array<number | null | undefined>(x.length).fill(undefined);
    const high = new Array<number | null | undefined>(x.length).fill(undefined);
    for (const point of curve.points) {
      const at = row.get(point.x)!;
      y[at] = point.y;
      low[at] = point.low ?? point.y;
      high[at] = point.high ?? point.y;
    }
    return [y, low, high];
  });
  return { x, columns };
}

export interface TableData {
  columns: string[];
  rows: { label: string; cells: string[] }[];
}

/** More columns than this are thinned out: a table is for reading. */
const kMostColumns = 24;

export function toTable(chart: LineChartData, missing: string): TableData {
  const { x } = align(chart.curves);
  const every = Math.max(1, Math.ceil(x.length / kMostColumns));
  const shown = x.filter((_, index) => index % every === 0 || index === x.length - 1);
  return {
    columns: shown.map(chart.formatX),
    rows: chart.curves.map((curve) => {
      const at = new Map(curve.points.map((point) => [point.x, point.y]));
      return {
        label: curve.label,
        cells: shown.map((value) => (at.has(value) ? chart.formatY(at.get(value)!) : missing)),
      };
    }),
  };
}

/** Range of y over everything drawn; reference lines count only when they are near, so that they do not squash the curves. */
export function yRange(chart: Pick<LineChartData, "curves" | "horizontals" | "includeY">): [number, number] {
  const values = chart.curves.flatMap((curve) =>
    curve.points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]),
  );
  values.push(...(chart.includeY ?? []));
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  let [low, high] = [Math.min(...finite), Math.max(...finite)];
  const reach = 0.25 * Math.max(high - low, 0.2);
  for (const { y } of chart.horizontals) {
    if (y > high && y <= high + reach) high = y;
    if (y < low && y >= low - reach) low = y;
  }
  const pad = Math.max(0.04 * (high - low), 1e-3);
  return [low - pad, high + pad];
}

/** How far apart labels may be at most, so that all of them have room. */
export const fittingGap = (count: number, wanted: number, room: number): number =>
  Math.min(wanted, room / Math.max(1, count - 1));

/** Moves labels apart so that neighbours are at least `gap` apart, staying near where they belong and inside [low, high]. */
export function spread(wanted: readonly number[], gap: number, low: number, high: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = new Array<number>(wanted.length).fill(0);
  let free = low;
  for (const index of order) {
    placed[index] = Math.max(wanted[index]!, free);
    free = placed[index]! + gap;
  }
  // Too low at the bottom end: push back up.
  let limit = high;
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index]!, limit);
    limit = placed[index]! - gap;
  }
  return placed;
}

/** Which of these labels to write so that none overlap: the kept ones first, then from left to right. `width` is that of one label. */
export function roomyTicks(places: readonly number[], kept: readonly number[], width: number): boolean[] {
  const shown = places.map(() => false);
  const free = (index: number) =>
    places.every((place, other) => !shown[other] || Math.abs(place - places[index]!) >= width);
  for (const index of [...kept, ...places.keys()]) {
    if (index >= 0 && index < places.length && free(index)) shown[index] = true;
  }
  return shown;
}

/** Ticks of a logarithmic axis: `first` and its doublings up to `last`. */
export function doublings(first: number, last: number): number[] {
  const ticks: number[] = [];
  for (let tick = first; tick <= last * 1.001 && ticks.length < 40; tick *= 2) ticks.push(tick);
  return ticks;
}
