// SPDX-License-Identifier: MIT
// The module of tests/bench/kernels as JavaScript sees it. Views of its memory end with the next call that grows it.

export interface AttentionShape {
  heads: number;
  keyValueHeads: number;
  queries: number;
  keys: number;
  dim: number;
  causal: boolean;
  /** 0: none */ window: number;
}

interface Owned {
  delete(): void;
}
/** Calls that return text say what was wrong, "" otherwise. */
export interface AttentionKernel extends Owned {
  make(type: string, shape: AttentionShape): string;
  forward(): string;
  /** room for gradients, and a forward pass that keeps what backward needs */ prepareBackward(): string;
  backward(): string;
  pull(): string;
  query(): Float32Array;
  key(): Float32Array;
  value(): Float32Array;
  output(): Float32Array;
  biasByDistance(): Float32Array;
  cosines(): Float32Array;
  sines(): Float32Array;
  forwardFlops(): number;
  backwardFlops(): number;
  forwardBytes(): number;
  backwardBytes(): number;
}
export interface RotationKernel extends Owned {
  make(heads: number, length: number, dim: number): string;
  run(): void;
  query(): Float32Array;
  bytes(): number;
}
export interface TableKernel extends Owned {
  make(length: number, dim: number): string;
  run(): string;
  result(): Float32Array;
  bytes(): number;
}
export interface BiasKernel extends Owned {
  make(heads: number, length: number): string;
  run(): string;
  table(): Float32Array;
  result(): Float32Array;
  bytes(): number;
}
export interface MatMulKernel extends Owned {
  make(m: number, n: number, k: number): string;
  run(): void;
  flops(): number;
}
export interface MemoryLoops extends Owned {
  bytes(): number;
  read(): number;
  copy(): void;
  fill(): void;
}

export interface Kernels {
  HEAPU8: Uint8Array;
  schemeTypes(): string[];
  chainCounts(): number[];
  multiplyAdds(chains: number, rounds: number): number;
  Attention: new () => AttentionKernel;
  Rotation: new () => RotationKernel;
  Table: new () => TableKernel;
  Bias: new () => BiasKernel;
  MatMul: new () => MatMulKernel;
  Memory: new (bytes: number) => MemoryLoops;
}

/** Throws what a call complains about. */
export function must(complaint: string): void {
  if (complaint !== "") throw new Error(complaint);
}

/** Heads as in the project's goals unless given otherwise. */
export function shapeOf(length: number, causal: boolean, more: Partial<AttentionShape> = {}): AttentionShape {
  const heads = more.heads ?? 8;
  return { heads, keyValueHeads: heads, queries: length, keys: length, dim: 64, causal, window: 0, ...more };
}

export function makeAttention(kernels: Kernels, type: string, shape: AttentionShape): AttentionKernel {
  const attention = new kernels.Attention();
  must(attention.make(type, shape));
  return attention;
}
