// SPDX-License-Identifier: MIT
// What samples are summed up as: the median with the quartiles, and the exponent of a power law.

import { mean, quantile } from "d3-array";

export interface Spread {
  median: number;
  /** first and third quartile */ lower: number;
  upper: number;
  samples: number;
}

/** Quartiles interpolate linearly between the samples; there must be at least one. */
export function spreadOf(samples: readonly number[]): Spread {
  if (samples.length === 0) throw new RangeError("no samples");
  const at = (p: number): number => quantile(samples, p)!;
  return { median: at(0.5), lower: at(0.25), upper: at(0.75), samples: samples.length };
}

/** The e of y = c x^e, by least squares on the logarithms; null without two different sizes or with a y of zero. */
export function fitExponent(points: readonly { x: number; y: number }[]): number | null {
  if (points.some(({ x, y }) => !(x > 0 && y > 0))) return null;
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const centre = { x: mean(logs, ({ x }) => x) ?? 0, y: mean(logs, ({ y }) => y) ?? 0 };
  let along = 0;
  let across = 0;
  for (const { x, y } of logs) {
    along += (x - centre.x) ** 2;
    across += (x - centre.x) * (y - centre.y);
  }
  return along > 0 ? across / along : null;
}
