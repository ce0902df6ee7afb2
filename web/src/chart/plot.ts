// SPDX-License-Identifier: MIT
// Builds the uPlot options of a line chart: axes, bands over seeds, the line at the trained length, reference lines and
// labels at the ends of curves. Colours of the page come from its style sheet.

import type uPlot from "uplot";
import { shortNames, textWidth } from "../engine/poslab.js";
import { doublings, fittingGap, roomyTicks, spread, yRange, type Curve, type LineChartData } from "./data.js";

export interface PageColours {
  text: string;
  muted: string;
  grid: string;
  background: string;
}

export function pageColours(element: Element): PageColours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return { text: read("--text"), muted: read("--muted"), grid: read("--grid"), background: read("--surface") };
}

const kFont = "12px system-ui, -apple-system, 'Segoe UI', 'Noto Sans SC', sans-serif";
const kBandOpacity = "26"; // of 255, as the last two digits of a colour
const kLabelGap = 15;
const kSmallestLabel = 9;
/** Between ticks of positions, distances and steps, which are whole numbers. */
const kWholeSteps = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Room at the right for names, when there is room at all. */
export function labelRoom(chart: LineChartData, width: number): number {
  if (width < 420 || chart.curves.length === 0) return 14;
  const longest = Math.max(...chart.curves.map((curve) => pixelsOf(curve.endLabel ?? curve.label)));
  return Math.min(longest + 18, width * 0.26);
}

/** Room at the right: for names, or at least for the half of the last tick's label that stands out. */
export const rightRoom = (chart: LineChartData, width: number): number =>
  Math.max(labelRoom(chart, width), pixelsOf(chart.formatX(xRange(chart)[1])) / 2 + 2);

/** In the chart's font. */
const pixelsOf = (text: string) => textWidth(text, 6.6, 12);

export function plotOptions(
  chart: () => LineChartData,
  colours: PageColours,
  width: number,
  height: number,
  onCursor: (plot: uPlot) => void,
): uPlot.Options {
  const { curves, xScale } = chart();
  return {
    width,
    height,
    padding: [18, () => rightRoom(chart(), width), 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: {
        time: false,
        ...(xScale === "log" ? { distr: 3 as const, log: 2 as const } : {}),
        range: () => xRange(chart()),
      },
      y: { range: () => yRange(chart()) },
    },
    axes: [
      {
        ...axisLook(colours),
        size: 44,
        label: chart().xLabel,
        labelSize: 18,
        labelFont: kFont,
        ...(xScale === "log"
          ? { splits: () => logTicks(chart()), filter: (_plot: uPlot, splits: number[]) => splits }
          : { incrs: kWholeSteps }),
        values: (plot, splits) => tickLabels(plot, splits, chart()),
        space: 46,
      },
      {
        ...axisLook(colours),
        size: 52,
        label: chart().yLabel,
        labelSize: 18,
        labelFont: kFont,
        values: (_plot, splits) => splits.map((value) => chart().formatY(value)),
        space: 34,
      },
    ],
    series: [{}, ...curves.flatMap((curve) => curveSeries(curve, chart().dots))],
    bands: curves.map((curve, index) => ({
      series: [3 * index + 3, 3 * index + 2] as [number, number],
      fill: curve.colour + kBandOpacity,
    })),
    hooks: {
      drawClear: [(plot) => drawReferences(plot, chart(), colours)],
      draw: [
        (plot) => {
          drawWords(plot, chart(), colours);
          drawEnds(plot, chart(), colours);
        },
      ],
      setCursor: [onCursor],
    },
  };
}

function axisLook(colours: PageColours) {
  return {
    stroke: colours.muted,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
    font: kFont,
    labelGap: 2,
  };
}

function curveSeries(curve: Curve, dots: boolean): uPlot.Series[] {
  const hidden = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
  return [
    {
      stroke: curve.colour,
      width: curve.atTest ? 1.5 : 2,
      dash: [...curve.dash],
      spanGaps: true,
      points: {
        show: dots || curve.points.length === 1,
        size: curve.atTest ? 4 : 5,
        fill: curve.colour,
        stroke: curve.colour,
      },
    },
    hidden,
    hidden,
  ];
}

function xRange(chart: LineChartData): [number, number] {
  const x = chart.curves.flatMap((curve) => curve.points.map((point) => point.x));
  if (chart.xRange) x.push(...chart.xRange);
  if (chart.vertical) x.push(chart.vertical.x);
  const [low, high] = x.length ? [Math.min(...x), Math.max(...x)] : [1, 2];
  if (chart.xScale === "linear") return [low, high > low ? high : low + 1];
  // A little room on both sides, so that dots at the ends are whole.
  return high > low ? [low / 1.06, high * 1.06] : [low / 1.4, high * 1.4];
}

function logTicks(chart: LineChartData): number[] {
  const [low, high] = xRange(chart);
  let first = chart.vertical?.x ?? low;
  while (first / 2 >= low) first /= 2;
  return doublings(first, high);
}

const kTickRoom = 36;

/** The trained length and the last tick are named in any case. */
function tickLabels(plot: uPlot, splits: number[], chart: LineChartData): string[] {
  const places = splits.map((value) => plot.valToPos(value, "x"));
  const shown = roomyTicks(places, [splits.indexOf(chart.vertical?.x ?? NaN), splits.length - 1], kTickRoom);
  return splits.map((value, index) => (shown[index] ? chart.formatX(value) : ""));
}

function drawReferences(plot: uPlot, chart: LineChartData, colours: PageColours): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.lineWidth = ratio;
  const [low, high] = yRange(chart);
  for (const { y } of chart.horizontals) {
    if (y < low || y > high) continue;
    const at = plot.valToPos(y, "y", true);
    line(
      ctx,
      colours.muted,
      [1, 4].map((part) => part * ratio),
      bbox.left,
      at,
      bbox.left + bbox.width,
      at,
    );
  }
  if (chart.vertical && chart.curves.length) {
    const at = plot.valToPos(chart.vertical.x, "x", true);
    line(ctx, colours.text, [], at, bbox.top, at, bbox.top + bbox.height);
  }
  ctx.restore();
}

function line(
  ctx: CanvasRenderingContext2D,
  colour: string,
  dash: number[],
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): void {
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Words over the curves, each on a rim of the page's own colour so that a curve does not strike it through. */
function drawWords(plot: uPlot, chart: LineChartData, colours: PageColours): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const [low, high] = yRange(chart);
  const write = (text: string, x: number, y: number, align: CanvasTextAlign, colour: string) => {
    ctx.textAlign = align;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  };
  ctx.save();
  ctx.font = kFont.replace("12px", `${11 * ratio}px`);
  ctx.lineWidth = 4 * ratio;
  ctx.lineJoin = "round";
  ctx.strokeStyle = colours.background;
  for (const { y, label } of chart.horizontals) {
    if (y >= low && y <= high)
      write(label, bbox.left + bbox.width - 4 * ratio, plot.valToPos(y, "y", true) - 4 * ratio, "right", colours.muted);
  }
  if (chart.vertical && chart.curves.length) {
    const at = plot.valToPos(chart.vertical.x, "x", true);
    const near = at > bbox.left + bbox.width / 2;
    write(
      chart.vertical.label,
      at + (near ? -5 : 5) * ratio,
      bbox.top + 2 * ratio,
      near ? "right" : "left",
      colours.text,
    );
  }
  ctx.restore();
}

/** Names at the right-hand ends, and a cross where a curve stops being defined. */
function drawEnds(plot: uPlot, chart: LineChartData, colours: PageColours): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const ends = chart.curves.flatMap((curve) => {
    const last = curve.points.at(-1);
    return last ? [{ curve, x: plot.valToPos(last.x, "x", true), y: plot.valToPos(last.y, "y", true) }] : [];
  });
  ctx.save();
  for (const { curve, x, y } of ends) {
    if (!curve.endsEarly) continue;
    const arm = 5 * ratio;
    ctx.lineWidth = 2 * ratio;
    line(ctx, curve.colour, [], x - arm, y - arm, x + arm, y + arm);
    line(ctx, curve.colour, [], x - arm, y + arm, x + arm, y - arm);
  }
  if (labelRoom(chart, plot.width) > 14) {
    const full = ends.filter(({ curve }) => !curve.endsEarly);
    const gap = fittingGap(full.length, kLabelGap * ratio, bbox.height);
    ctx.font = kFont.replace("12px", `${Math.max(kSmallestLabel * ratio, Math.min(12 * ratio, gap))}px`);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const places = spread(
      full.map(({ y }) => y),
      gap,
      bbox.top,
      bbox.top + bbox.height,
    );
    const room = labelRoom(chart, plot.width) * ratio - 12 * ratio;
    const names = shortNames(
      full.map(({ curve }) => curve.endLabel ?? curve.label),
      (text) => ctx.measureText(text).width <= room,
    );
    full.forEach(({ curve, y }, index) => {
      const right = bbox.left + bbox.width;
      ctx.lineWidth = ratio;
      line(ctx, curve.colour, [], right + 1, y, right + 7 * ratio, places[index]!);
      ctx.fillStyle = colours.text;
      ctx.fillText(names[index]!, right + 10 * ratio, places[index]!);
    });
  }
  ctx.restore();
}
