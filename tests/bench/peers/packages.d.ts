// SPDX-License-Identifier: MIT
// The part of the peers' interfaces that is used here, so that types are checked without the peers being installed.

declare module "onnxruntime-web" {
  export class Tensor {
    constructor(type: "float32", data: Float32Array, dims: readonly number[]);
    constructor(type: "int64", data: BigInt64Array, dims: readonly number[]);
    readonly data: Float32Array;
  }
  export class InferenceSession {
    static create(model: Uint8Array, options: object): Promise<InferenceSession>;
    run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
  }
  export const env: { logLevel: string; wasm: { numThreads: number; wasmPaths?: string } };
}

declare module "@tensorflow/tfjs-core" {
  export interface Tensor {
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  export function reshape(a: Tensor, shape: number[]): Tensor;
  export function tensor(values: Float32Array, shape: number[]): Tensor;
  export function scalar(value: number): Tensor;
  export function matMul(a: Tensor, b: Tensor, transposeA?: boolean, transposeB?: boolean): Tensor;
  export function mul(a: Tensor, b: Tensor): Tensor;
  export function add(a: Tensor, b: Tensor): Tensor;
  export function neg(a: Tensor): Tensor;
  export function sin(a: Tensor): Tensor;
  export function cos(a: Tensor): Tensor;
  export function gather(a: Tensor, indices: Tensor, axis: number): Tensor;
  export function transpose(a: Tensor, axes: number[]): Tensor;
  export function tensor1d(values: Int32Array, type: "int32"): Tensor;
  export function softmax(a: Tensor): Tensor;
  export function stack(tensors: Tensor[]): Tensor;
  export function concat(tensors: Tensor[], axis: number): Tensor;
  export function slice(a: Tensor, begin: number[], size: number[]): Tensor;
  export function tidy<T>(body: () => T): T;
  export function setBackend(name: string): Promise<boolean>;
  export function ready(): Promise<void>;
}

declare module "@tensorflow/tfjs-backend-wasm" {
  export function setWasmPaths(prefix: string): void;
  export function setThreadsCount(count: number): void;
}

declare module "@jax-js/jax" {
  /** Passing one to a function gives it away; `ref` keeps it. */
  export interface Array {
    readonly ref: Array;
    add(other: Array | number): Array;
    sub(other: Array | number): Array;
    mul(other: Array | number): Array;
    div(other: Array | number): Array;
    neg(): Array;
    sum(axis?: number | number[], options?: { keepdims: boolean }): Array;
    mean(axis?: number | number[], options?: { keepdims: boolean }): Array;
    reshape(shape: number[]): Array;
    transpose(axes?: number[]): Array;
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  export type Tree = Array | Tree[] | { [name: string]: Tree };
  export function jit<F extends (...given: never[]) => Tree>(body: F): F;
  export function valueAndGrad<P extends Tree, R extends Tree[]>(
    body: (parameters: P, ...rest: R) => Array,
  ): (parameters: P, ...rest: R) => [Array, P];
  export function blockUntilReady<T extends Tree>(tree: T): Promise<T>;
  export function init(...devices: string[]): Promise<string[]>;
  export function defaultDevice(device: string): string;
  export const numpy: {
    int32: string;
    array(values: Float32Array | Int32Array | number, options?: { shape?: number[]; dtype?: string }): Array;
    matmul(a: Array, b: Array): Array;
    take(a: Array, indices: Array, axis: number): Array;
    sqrt(a: Array): Array;
    sin(a: Array): Array;
    cos(a: Array): Array;
    reciprocal(a: Array): Array;
    minimum(a: Array | number, b: Array | number): Array;
    concatenate(parts: Array[], axis: number): Array;
    split(a: Array, sections: number, axis: number): Array[];
    stack(parts: Array[], axis: number): Array;
  };
  export const nn: {
    dotProductAttention(query: Array, key: Array, value: Array, options?: { bias?: Array; isCausal?: boolean }): Array;
    oneHot(ids: Array, classes: number): Array;
    logSoftmax(x: Array): Array;
    gelu(x: Array, options: { approximate: boolean }): Array;
    standardize(x: Array, axis: number, options: { epsilon: number }): Array;
  };
  export const tree: { ref<T extends Tree>(tree: T): T; dispose(tree: Tree): void };
}

declare module "protobufjs/light.js" {
  interface Type {
    fromObject(object: object): object;
    encode(message: object): { finish(): Uint8Array };
  }
  const protobuf: { Root: { fromJSON(json: object): { lookupType(name: string): Type } } };
  export default protobuf;
}
