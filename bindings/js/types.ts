// SPDX-License-Identifier: MIT
// The public types of the package: tensors, scheme objects, masks, options and results. Names are the field's own and
// the same in C++, in case files, in experiment JSON and on the page.

import type { Position } from "./scheme-types.js";

export type * from "./scheme-types.js";

/** A row-major float32 tensor. */
export interface Tensor {
  data: Float32Array;
  shape: number[];
}

/**
 * Anything the API reads numbers from. Nested arrays are taken row-major; a flat typed array needs a shape (as Tensor).
 */
export type TensorLike =
  Tensor | { data: ArrayLike<number> | BigInt64Array | BigUint64Array; shape: readonly number[] } | NestedNumbers;
export type NestedNumbers = ArrayLike<number> | ReadonlyArray<NestedNumbers>;
/** Integer ids: positions, tokens. */
export type IntegerArray = ArrayLike<number> | BigInt64Array;
/**
 * One id a token, or several: [L, axes], nested or with a shape. Schemes of grids take (row, column), `rope` with
 * `sections` an id a section.
 */
export type PositionArray =
  IntegerArray | { data: IntegerArray; shape: readonly number[] } | ReadonlyArray<ArrayLike<number>>;

// ------------------------------------------------------------------------------------------------ calls

export interface Mask {
  causal?: boolean;
  /**
   * default "bottom-right": the last query sees the last key, and query i stands at i + keys - queries; "top-left": query i
   * sees the keys up to i, and stands at i
   */
  alignment?: "bottom-right" | "top-left";
  /** a query sees itself and window - 1 keys before it; needs causal */ window?: number;
  /**
   * [Lk], never falling: documents packed into one row, by number. A query sees the keys of the document of the key at
   * its own place, and no others.
   */
  documents?: IntegerArray;
}
/**
 * Far keys seen at other distances than they are: those before the window (the query itself and window - 1 keys before it)
 * at floor(i / group) - floor(j / group) + window - floor(window / group) (Self-Extend), or all at `window` (ReRoPE).
 */
export type Distances = { policy: "grouped"; window: number; group: number } | { policy: "clamped"; window: number };
export interface AttentionOptions {
  /** [H, Lq, D] */ query: TensorLike;
  /** [Hkv, Lk, D]; Hkv divides H */ key: TensorLike;
  /** [Hkv, Lk, Dv] */ value: TensorLike;
  position?: Position;
  mask?: Mask;
  /** [Lk], 0 = hidden */ keyMask?: ArrayLike<number> | BigInt64Array;
  queryPositions?: PositionArray;
  keyPositions?: PositionArray;
  /** needs mask.causal */ distances?: Distances;
  /** default 1 / sqrt(D), of deberta 1 / sqrt(terms D); T5 as published uses 1 */ scale?: number;
  /** [H, Lk]: what a token gives the scheme, such as the logarithms of forget gates */ gates?: TensorLike;
  /**
   * [H]: one more logit a head that takes weight and gives no value (GPT-OSS); zeros: softmax-off-by-one
   */
  sinks?: ArrayLike<number>;
  /** also return weights [H, Lq, Lk] */ weights?: boolean;
  /** also return scores before the softmax [H, Lq, Lk], -Infinity where hidden */ scores?: boolean;
  /** also return log-sum-exp [H, Lq] */ logSumExp?: boolean;
}
export interface AttentionResult {
  output: Tensor;
  weights?: Tensor;
  scores?: Tensor;
  logSumExp?: Tensor;
}
export interface AttentionGradientOptions extends AttentionOptions {
  /** [H, Lq, Dv] */ outputGradient: TensorLike;
}
export interface AttentionGradientResult {
  query: Tensor;
  key: Tensor;
  value: Tensor;
  /** by parameter name */ position: Record<string, Tensor>;
  gates?: Tensor;
  sinks?: Tensor;
}
export interface Frequencies {
  /** [rotaryDim / 2] */ inverseFrequencies: Float64Array;
  attentionFactor: number;
}
export interface SchemeInfo {
  type: string;
  hooks: ("embedding" | "rotation" | "score" | "value")[];
  /** whether attention needs `gates` with it */ gates: boolean;
}
export interface Info {
  version: string;
  variant: "simd" | "relaxed";
  schemes: SchemeInfo[];
}

// ------------------------------------------------------------------------------------------------ experiments

export type Task =
  | {
      type: "text";
      corpus?: string;
      /** instead of a named corpus */ text?: string;
      /** default "characters" */ unit?: "characters" | "bytes";
    }
  | { type: "lookback"; distance?: number }
  | { type: "fixed-position"; position?: number }
  | { type: "first" | "needle" | "recall" | "position-modulo" | "majority" | "copy" | "reverse" };
/** A task as the lab lists it. */
export interface TaskInfo {
  type: Task["type"];
  text: boolean;
  /** symbols of a toy task, 0 for text */ vocabulary: number;
  /** of random guessing among the possible answers */ guessAccuracy: number;
}
/**
 * A row of a task written out; `answers` has null where nothing is scored. Toy answers are read at the place itself,
 * text predicts the next symbol.
 */
export interface TaskSample {
  symbols: string[];
  answers: (string | null)[];
}
export interface ModelShape {
  dim?: number;
  heads?: number;
  layers?: number;
  feedForward?: number;
  keyValueHeads?: number;
  norm?: "layer" | "rms";
  normPlacement?: "pre" | "post";
  activation?: "gelu" | "relu" | "silu";
  gated?: boolean;
  bias?: boolean;
  /**
   * one more logit a head that takes weight and gives no value: 0 (softmax-off-by-one) or learned (GPT-OSS); default
   * "none"
   */
  sinks?: "none" | "zero" | "learned";
  tied?: boolean;
  parallel?: boolean;
}
/**
 * Positions of training rows, drawn anew at every step for the whole batch: a sorted sample of ids below `maximum` (Ruoss
 * et al. 2023; tests draw as well, once a length), 0, 1, ... plus a number from 0 to `maximum` (SHAPE), or chunks with
 * ids skipped between them, the last below `maximum` (PoSE).
 */
export interface TrainingPositions {
  policy: "randomized" | "shift" | "pose";
  maximum: number;
  /** of "pose", 2 */ chunks?: number;
}
export interface TrainingOptions {
  length?: number;
  batch?: number;
  steps?: number;
  /** instead of steps */ tokens?: number;
  learningRate?: number;
  warmup?: number;
  weightDecay?: number;
  clip?: number;
  beta1?: number;
  beta2?: number;
  /** default: 0, 1, 2, ... */ positions?: TrainingPositions;
}
export type Encoding = Position & { label?: string };
export interface AtTest {
  /** index of the encoding */ of: number;
  position?: Position;
  window?: number;
  shift?: number;
  /**
   * far keys at other distances, of schemes that act on attention and do not count along the keys; a `group` that is left
   * out is the smallest that keeps every distance below the trained length at each tested length
   */
  distances?: { policy: "grouped"; window: number; group?: number } | { policy: "clamped"; window: number };
  /** stretch a learned table */ interpolate?: boolean;
  label?: string;
}
export interface Experiment {
  task?: Task;
  model?: ModelShape;
  training?: TrainingOptions;
  encodings?: Encoding[];
  atTest?: AtTest[];
  test?: { lengths?: number[]; windows?: number };
  seeds?: number[];
}
/** All fields filled in. */
export interface CompleteExperiment {
  task: Task;
  model: Required<Omit<ModelShape, "bias">> & { bias?: boolean };
  training: Required<Omit<TrainingOptions, "tokens" | "positions">> & { positions?: TrainingPositions };
  encodings: Encoding[];
  atTest: AtTest[];
  test: { lengths: number[]; windows: number };
  seeds: number[];
}
/** What weights that an experiment has saved say of their model, in their metadata as "poslab.model". */
export interface ExperimentModel {
  model: CompleteExperiment["model"];
  vocabulary: number;
  /** trained length */ length: number;
  encoding: Encoding;
  unit: "characters" | "bytes";
  /** by id; an id past them is that of symbols that training did not see */ symbols: string[];
}
export interface LengthEntry {
  length: number;
  loss: number | null;
  lossError?: number;
  lossAtEnd: number | null;
  lossAtEndError?: number;
  accuracy?: number;
  accuracyAtEnd?: number;
  /** why it is not defined */ reason?: string;
}
export interface RunResult {
  encoding: number;
  seed: number;
  parameters: number;
  steps: number;
  seconds: number;
  tokensPerSecond: number;
  /** [step, mean loss since the last entry] */ training: [number, number][];
  byLength: LengthEntry[];
  byPosition: { binWidth: number; loss: (number | null)[] };
  atTest: { entry: number; byLength: LengthEntry[] }[];
  /** when the run ended early: diverged at a step, a dead worker, cancelled */ stopped?: {
    reason: string;
    step: number;
  };
}
export interface ExperimentResult {
  experiment: CompleteExperiment;
  build: { version: string; variant: string };
  runs: RunResult[];
  verdict: string;
}

/** What a run reports, about ten times a second. */
export interface RunProgress {
  encoding: number;
  seed: number;
  phase: "waiting" | "training" | "measuring" | "done" | "failed";
  /** waits for start() */ paused: boolean;
  step: number;
  steps: number;
  loss: number | null;
  stepsPerSecond: number;
  secondsLeft: number | null;
  /** 0 .. 1 over training and measuring */ fraction: number;
  error?: string;
}
export interface ExperimentOptions {
  /**
   * Heard between slices of about 30 ms; a slice is at least one training step or one test window, which at a length of
   * ten thousands takes seconds.
   */
  signal?: AbortSignal;
  onProgress?: (progress: RunProgress) => void;
  /** finished runs, as they finish */ onRun?: (run: RunResult, weights: Uint8Array) => void;
  /** a corpus the experiment names but the package does not have: UTF-8 bytes by name */ corpora?: Record<
    string,
    Uint8Array | string
  >;
  /** what an interrupted call left; finished runs are kept, half-finished ones go on */ resume?: ExperimentState;
}
/**
 * Enough to go on after an interruption: finished runs and, for half-finished ones, weights and state as safetensors.
 */
export interface ExperimentState {
  runs: RunResult[];
  unfinished: { encoding: number; seed: number; state: Uint8Array }[];
}
