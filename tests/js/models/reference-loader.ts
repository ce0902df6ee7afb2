// SPDX-License-Identifier: MIT
// From a checkpoint's tensors to canonical ones, for tests that spell out a family by hand.

export type Config = Record<string, unknown>;
export interface Matrix {
  data: Float32Array;
  shape: number[];
}
/** Canonical name to numbers; `transposed`: [in, out]. */
export type Tensors = Map<string, { data: Float32Array; transposed?: boolean }>;

export const numberOf = (config: Config, name: string): number => Number(config[name]);
export const rows = ({ data, shape }: Matrix, from: number, count: number): Float32Array => {
  const width = data.length / shape[0]!;
  return data.slice(from * width, (from + count) * width);
};
export const columns = ({ data, shape }: Matrix, from: number, count: number): Float32Array => {
  const [height, width] = shape as [number, number];
  const out = new Float32Array(height * count);
  for (let row = 0; row < height; row += 1)
    out.set(data.subarray(row * width + from, row * width + from + count), row * count);
  return out;
};
/** Part 0, 1 or 2 of rows that lie [heads, 3, headDim]. */
export const headByHead = (matrix: Matrix, heads: number, part: number): Float32Array => {
  const headDim = matrix.shape[0]! / heads / 3;
  const parts = Array.from({ length: heads }, (_, head) => rows(matrix, (3 * head + part) * headDim, headDim));
  const out = new Float32Array(parts.length * parts[0]!.length);
  parts.forEach((part, index) => out.set(part, index * part.length));
  return out;
};

export class Loader {
  readonly tensors: Tensors = new Map();
  readonly #stored: Map<string, Matrix>;
  constructor(stored: Map<string, Matrix>) {
    this.#stored = stored;
  }
  get(name: string): Matrix {
    const tensor = this.#stored.get(name);
    if (!tensor) throw new Error(`${name} is not in the file`);
    return tensor;
  }
  put(name: string, from: string | Float32Array, transposed = false): void {
    this.tensors.set(name, { data: typeof from === "string" ? this.get(from).data : from, transposed });
  }
  /** Weight and, where there is one, bias. */
  linear(name: string, from: string, transposed = false): void {
    this.put(`${name}.weight`, `${from}.weight`, transposed);
    if (this.#stored.has(`${from}.bias`)) this.put(`${name}.bias`, `${from}.bias`);
  }
  norm(name: string, from: string): void {
    this.put(`${name}.gain`, `${from}.weight`);
    if (this.#stored.has(`${from}.bias`)) this.put(`${name}.bias`, `${from}.bias`);
  }
}

export const everyBlock = (count: number, block: (index: number, name: string) => void): void => {
  for (let index = 0; index < count; index += 1) block(index, `blocks.${index}`);
};
