// SPDX-License-Identifier: MIT
// Encodings and attention written down as plainly as possible, in double, with a switch for each mistake that people make:
// what a wrong implementation would give. Nothing here is taken from the library.

export interface Rows {
  data: Float64Array;
  shape: number[];
}

export function rows(shape: number[], value: (...index: number[]) => number): Rows {
  const size = shape.reduce((product, extent) => product * extent, 1);
  const data = Float64Array.from({ length: size }, (_, flat) => {
    const index: number[] = [];
    let rest = flat;
    for (const extent of [...shape].reverse()) {
      index.unshift(rest % extent);
      rest = Math.floor(rest / extent);
    }
    return value(...index);
  });
  return { data, shape };
}

export const at = ({ data, shape }: Rows, ...index: number[]): number =>
  data[index.reduce((offset, i, axis) => offset * shape[axis]! + i, 0)]!;

/** Float32 numbers that look random and are the same everywhere. */
export function noise(shape: number[], seed: number): Rows {
  return rows(shape, (...index) => {
    const phase = index.reduce((sum, i, axis) => sum + (i + 1) * (axis + 1.7) ** 3, seed * 12.9898);
    const value = Math.sin(phase) * 43758.5453;
    return Math.fround(2 * (value - Math.floor(value)) - 1);
  });
}

export interface NaiveRope {
  theta?: number;
  rotaryDim?: number;
  interleaved?: boolean;
  sign?: 1 | -1;
  /** what 2k is divided by */ denominator?: number;
  /** frequency of pair k */ frequency?: (pair: number) => number;
  /** of cos and sin */ magnitude?: number;
  /** the first lane that turns */ first?: number;
}

/** x [H, L, D] turned by its positions. */
export function rotate(x: Rows, positions: readonly number[], rope: NaiveRope = {}): Rows {
  const dim = x.shape[2]!;
  const { theta = 10000, rotaryDim = dim, interleaved = false, sign = 1, magnitude = 1, first = 0 } = rope;
  const { denominator = rotaryDim, frequency = (pair: number) => theta ** ((-2 * pair) / denominator) } = rope;
  return rows(x.shape, (head, place, lane) => {
    const turned = lane - first;
    if (turned < 0 || turned >= rotaryDim) return at(x, head, place, lane);
    const half = rotaryDim / 2;
    const pair = interleaved ? turned >> 1 : turned % half;
    const isSecond = interleaved ? turned % 2 === 1 : turned >= half;
    const one = first + (interleaved ? 2 * pair : pair);
    const two = first + (interleaved ? 2 * pair + 1 : pair + half);
    const angle = sign * positions[place]! * frequency(pair);
    const [a, b] = [at(x, head, place, one), at(x, head, place, two)];
    return (
      magnitude * (isSecond ? a * Math.sin(angle) + b * Math.cos(angle) : a * Math.cos(angle) - b * Math.sin(angle))
    );
  });
}

export interface NaiveAttention {
  scale?: number;
  causal?: boolean;
  topLeft?: boolean;
  window?: number;
  keyMask?: readonly number[];
  /** the key head of a query head */ keyHead?: (head: number) => number;
  /** added before the softmax */ bias?: (head: number, query: number, key: number, start: number) => number;
}

/** softmax(scale q k^T + bias) v */
export function attention(query: Rows, key: Rows, value: Rows, options: NaiveAttention = {}): Rows {
  const [heads, queries, dim] = query.shape as [number, number, number];
  const [groups, keys] = key.shape as [number, number];
  const { scale = dim ** -0.5, causal = false, topLeft = false, window, keyMask, bias = () => 0 } = options;
  const { keyHead = (head: number) => Math.floor((head * groups) / heads) } = options;
  const start = keys - queries;
  return rows([heads, queries, value.shape[2]!], (head, i, lane) => {
    const diagonal = i + (topLeft ? 0 : start);
    let sum = 0;
    let total = 0;
    for (let j = 0; j < keys; j += 1) {
      if (causal && j > diagonal) continue;
      if (window !== undefined && j <= diagonal - window) continue;
      if (keyMask && keyMask[j] === 0) continue;
      let score = 0;
      for (let d = 0; d < dim; d += 1) score += at(query, head, i, d) * at(key, keyHead(head), j, d);
      const weight = Math.exp(score * scale + bias(head, i, j, start));
      total += weight;
      sum += weight * at(value, keyHead(head), j, lane);
    }
    return total === 0 ? 0 : sum / total;
  });
}

/** The slopes of Press et al.'s code. */
export function slopes(heads: number): number[] {
  const power = 2 ** Math.floor(Math.log2(heads));
  const of = (count: number): number[] => Array.from({ length: count }, (_, head) => 2 ** ((-8 * (head + 1)) / count));
  return [...of(power), ...of(2 * power).filter((_, index) => index % 2 === 0)].slice(0, heads);
}

/** The bucket of a distance j - i, as Raffel et al.'s code has it. */
export function bucket(distance: number, bidirectional: boolean, buckets: number, maxDistance: number): number {
  const side = bidirectional ? buckets / 2 : buckets;
  const base = bidirectional && distance > 0 ? side : 0;
  const far = bidirectional ? Math.abs(distance) : Math.max(0, -distance);
  const exact = side / 2;
  if (far < exact) return base + far;
  const log = exact + Math.floor((Math.log(far / exact) / Math.log(maxDistance / exact)) * (side - exact) + 1e-9);
  return base + Math.min(side - 1, log);
}
