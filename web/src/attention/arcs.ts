// SPDX-License-Identifier: MIT
// Weights as arcs from each query to the keys that it looks at: over the line of tokens to those before it, under it to
// those that follow. One geometry for the canvas and for the saved SVG.

export interface Arc {
  query: number;
  key: number;
  weight: number;
}

/** More arcs than this cannot be told apart. */
const kMostArcs = 3000;
/** Weaker ones are not seen anyway. */
const kWeakest = 0.01;

/** Of a picture with one cell a pair, all or one query's; the strongest ones, the weakest of them first. */
export function arcsOf(picture: Float32Array, cells: number, query: number | null): Arc[] {
  const arcs: Arc[] = [];
  const [from, to] = query === null ? [0, cells] : [query, query + 1];
  for (let i = from; i < to; i += 1) {
    for (let j = 0; j < cells; j += 1) {
      const weight = picture[i * cells + j]!;
      if (weight >= kWeakest) arcs.push({ query: i, key: j, weight });
    }
  }
  return strongest(arcs);
}

/** Of one query's weights. */
export function rowArcs(weights: ArrayLike<number>, query: number): Arc[] {
  const arcs = Array.from(weights, (weight, key) => ({ query, key, weight }));
  return strongest(arcs.filter(({ weight }) => weight >= kWeakest));
}

const strongest = (arcs: Arc[]): Arc[] => arcs.sort((a, b) => a.weight - b.weight).slice(-kMostArcs);

export interface ArcFrame {
  tokens: number;
  width: number;
  /** of the space above the line of tokens */ rise: number;
  /** of the space below; 0: none */ fall: number;
}

export const tokenPlace = ({ tokens, width }: ArcFrame, index: number): number => ((index + 0.5) / tokens) * width;

/** As an SVG path; the line of tokens is at `rise`. */
export function arcPath(frame: ArcFrame, { query, key }: Arc): string {
  const [from, to] = [tokenPlace(frame, query), tokenPlace(frame, key)];
  const { rise, fall } = frame;
  const number = (value: number) => String(Math.round(value * 10) / 10);
  if (query === key) {
    const radius = Math.min(5, Math.max(1.5, frame.width / frame.tokens / 4));
    return `M${number(from)} ${number(rise)}a${radius} ${radius} 0 1 1 0.1 0`;
  }
  const half = Math.abs(to - from) / 2;
  // Far looks are higher, near ones still high enough to be told apart.
  const share = Math.sqrt(Math.abs(key - query) / Math.max(1, frame.tokens - 1));
  const height = Math.min(1.4 * half, share * ((key < query ? rise : fall) - 4));
  return `M${number(from)} ${number(rise)}A${number(half)} ${number(Math.max(1, height))} 0 0 0 ${number(to)} ${number(rise)}`;
}

export const arcWidth = (weight: number): number => 0.6 + 4 * weight;
export const arcOpacity = (weight: number): number => Math.min(1, 0.15 + 1.1 * Math.sqrt(weight));
