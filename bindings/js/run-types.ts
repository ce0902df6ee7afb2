// SPDX-License-Identifier: MIT
// Types of runs: what "poslab/run" offers to a page or a program that trains in workers, and what the worker of
// "poslab/worker" speaks. One experiment has encodings x seeds runs; each run is controlled on its own.
//
//   openExperiment(json, options) -> ExperimentSession: all runs of an experiment, each with its controls (the page)
//   runExperiment(json, options)  -> ExperimentResult: the same, start to end (the command line)
//   createRunPool(options)        -> RunPool: single runs, also from trained weights without any training

import type {
  AtTest,
  CompleteExperiment,
  ExperimentOptions,
  ExperimentResult,
  ExperimentState,
  LengthEntry,
  RunProgress,
  RunResult,
  Tensor,
} from "./types.js";

/**
 * A change at test time on trained weights: another position object, a window, all positions shifted, a stretched
 * table.
 */
export type TestChange = Omit<AtTest, "of" | "label">;

/** Where a run begins. Nothing given: at step 0 with weights from the seed. */
export interface RunStart {
  /** What `snapshot()` gave (weights, moments, step, generator): goes on from there, bit for bit. */ state?: Uint8Array;
  /** Trained weights as safetensors (any of F32, F16, BF16): the run is "done" at once; measure, generate and look. */ weights?: Uint8Array;
}

export interface RunRequest extends RunStart {
  experiment: CompleteExperiment;
  /** index into experiment.encodings */ encoding: number;
  /** the seed itself, not its index */ seed: number;
  /** re-measure while training, for a curve that is seen growing */ live?: LiveOptions;
}

export interface LiveOptions {
  /** default 3 */ everySeconds?: number;
  /** default: test.lengths of the experiment */ lengths?: readonly number[];
  /** windows a length; default 16 */ windows?: number;
}

/** Everything that a run says by itself, in order. Losses come as they are made; nothing is said twice. */
export type RunEvent =
  | {
      type: "progress";
      progress: RunProgress;
      /** training loss of steps firstStep, firstStep + 1, ... since the last event */ losses: Float32Array;
      firstStep: number;
    }
  | { type: "live"; step: number; measurement: Measurement }
  | { type: "done"; result: RunResult; /** safetensors, F32 */ weights: Uint8Array }
  | {
      type: "failed";
      error: RunFailure;
      /** what is known, unless the worker died */ result?: RunResult;
      /** the last good ones */ weights?: Uint8Array;
    };

/**
 * code "diverged": weights are those of the last good step and can be measured; "worker": the worker is gone. The other
 * codes and the rest are a PosLabError's, as far as they can pass between threads.
 */
export interface RunFailure {
  code: string;
  message: string;
  step: number;
  argument?: string | undefined;
  given?: unknown;
  allowed?: string | undefined;
  suggestion?: string | undefined;
}

export interface MeasureOptions {
  /** default: nothing changed */ change?: TestChange;
  /** default: test.lengths of the experiment */ lengths?: readonly number[];
  /** default: test.windows */ windows?: number;
  /** also the loss by position, from the longest defined length */ byPosition?: boolean;
}
export interface Measurement {
  byLength: LengthEntry[];
  byPosition?: { length: number; binWidth: number; loss: (number | null)[] };
}

export interface GenerateOptions {
  /** default: the first `promptLength` characters of the test part */ prompt?: string;
  /** default 32; used without a prompt */ promptLength?: number;
  /** how many symbols; default 2 L */ count?: number;
  /** default 0.8; 0 takes the likeliest */ temperature?: number;
  /** default 1 */ seed?: number;
  change?: TestChange;
}
export interface Generated {
  prompt: string;
  /** one entry a generated symbol; the first stands at position promptLength */ pieces: string[];
  promptLength: number;
  /** nats that the model gave each new symbol */ losses: Float32Array;
}

export interface AttentionLook {
  /** default: the first 48 characters of the test part (toy tasks: one test row) */ text?: string;
  /** default 0 */ layer?: number;
  change?: TestChange;
}
export interface AttentionPicture {
  symbols: string[];
  /** [heads, length, length] */ weights: Tensor;
}
/** Queries, keys and values of a layer before any rotation: [heads, length, headDim] and [keyValueHeads, length, headDim]. */
export interface AttentionInputs {
  symbols: string[];
  query: Tensor;
  key: Tensor;
  value: Tensor;
  /** [heads, length], where the model's scheme takes them from its tokens ("forgetting") */ gates?: Tensor;
}

/**
 * One run. Works in slices of about 30 ms, so every call answers within 100 ms but `measure`, which takes as long as it
 * takes (it can be cancelled by `dispose`). A run that is not started does nothing. After `dispose` every call is a
 * PosLabError.
 */
export interface RunController {
  readonly encoding: number;
  readonly seed: number;
  /** Trains to the last step, then measures; goes on after `pause`. Returns at once; events tell the rest. */
  start(): Promise<void>;
  /** Returns when the slice at work is over. */
  pause(): Promise<void>;
  /** Pauses and does this many training steps (default 1). */
  step(count?: number): Promise<RunProgress>;
  /** Back to step 0 with the same start values; paused. */
  rewind(): Promise<void>;
  /** Ends training here: the weights are measured as they are when started again. */
  skipToMeasuring(): Promise<void>;
  progress(): Promise<RunProgress>;
  /** Measures the weights as they are now; training goes on unharmed. */
  measure(options?: MeasureOptions): Promise<Measurement>;
  generate(options?: GenerateOptions): Promise<Generated>;
  attention(options?: AttentionLook): Promise<AttentionPicture>;
  /** safetensors; F16 halves the size for shipping. Default "F32". */
  weights(dtype?: "F32" | "F16"): Promise<Uint8Array>;
  /** Everything that a resumed run needs, as safetensors: give it back as `state`. */
  snapshot(): Promise<Uint8Array>;
  /** What is known so far; complete after the "done" event. */
  result(): Promise<RunResult>;
  dispose(): Promise<void>;
}

/**
 * Makes the worker: in a bundler, `() => new Worker(new URL("poslab/worker", import.meta.url), { type: "module" })` or
 * the app's own file that imports "poslab/worker".
 */
export type CreateWorker = () => unknown;

export interface RunPoolOptions {
  /** default: as many as there are cores, at most one a run */ workers?: number;
  createWorker?: CreateWorker;
  /** default "simd" */ variant?: "simd" | "relaxed";
  /** as in loadPosLab */ wasm?: string | URL | Uint8Array | ArrayBuffer | WebAssembly.Module;
  /** UTF-8 bytes or text of corpora by name */ corpora?: Record<string, Uint8Array | string>;
}
export interface RunPool {
  readonly workers: number;
  /** Runs share workers in slices when there are more of them; an idle worker takes one over from a busy one. */
  open(request: RunRequest, onEvent?: (event: RunEvent) => void): Promise<RunController>;
  /** Ends the workers. Open runs are lost: snapshot them first. */
  close(): Promise<void>;
}

export interface OpenExperimentOptions extends RunPoolOptions {
  onEvent?: (event: RunEvent, run: { encoding: number; seed: number }) => void;
  resume?: ExperimentState;
  live?: LiveOptions;
}
/** All runs of an experiment, in the order of the result: encodings, and seeds within each. */
export interface ExperimentSession {
  readonly experiment: CompleteExperiment;
  /** null where `resume` brought a finished run */ readonly runs: readonly (RunController | null)[];
  start(): Promise<void>;
  pause(): Promise<void>;
  rewind(): Promise<void>;
  /** Finished and half-finished runs, to be stored and given back as `resume`. */
  state(): Promise<ExperimentState>;
  /** What is there so far; verdict included. Runs without any result are left out. */
  result(): Promise<ExperimentResult>;
  /** Settles when every run is done or has failed, or the session is disposed of. Rejects with what `onEvent` throws. */
  readonly finished: Promise<ExperimentResult>;
  dispose(): Promise<void>;
}

/**
 * Options of `runExperiment`: those of `lab.experiment` and those of the pool. On abort it rejects with an
 * ExperimentInterrupted, whose `state` can be resumed.
 */
export interface RunExperimentOptions extends ExperimentOptions, Omit<RunPoolOptions, "corpora"> {}

// ------------------------------------------------------------------------------------------------ verdict

/** The facts behind the verdict sentence, so that a page can phrase them in its own language. */
export interface EncodingVerdict {
  encoding: number;
  label: string;
  /** "breaks": worse by more than `threshold` at `breaksAt`; "not-defined": no number past `lastDefined` */
  outcome: "holds" | "breaks" | "not-defined" | "failed";
  /** mean over seeds at the trained length: lossAtEnd in nats, or accuracyAtEnd */ atTrained: number | null;
  /** at the longest defined length */ atLongest: number | null;
  /** largest worsening past the trained length (nats up, accuracy down); >= 0 */ worst: number | null;
  /** first tested length that is worse than the threshold, and by how much */ breaksAt: number | null;
  breaksBy: number | null;
  lastDefined: number | null;
}
export interface Verdict {
  measure: "loss" | "accuracy";
  trainedLength: number;
  longest: number;
  threshold: number;
  encodings: EncodingVerdict[];
  /** encoding index with the best number at the longest length, and at the trained length */ bestAtLongest:
    number | null;
  bestAtTrained: number | null;
}

// ------------------------------------------------------------------------------------------------ files

export type Dtype =
  "F64" | "F32" | "F16" | "BF16" | "I64" | "I32" | "I16" | "I8" | "U64" | "U32" | "U16" | "U8" | "BOOL";
/** A tensor of a safetensors file. F16 and BF16 are widened to float32; I64 and U64 stay exact. BOOL is 0 and 1. */
export interface FileTensor {
  dtype: Dtype;
  shape: number[];
  data:
    | Float64Array
    | Float32Array
    | BigInt64Array
    | BigUint64Array
    | Int32Array
    | Uint32Array
    | Int16Array
    | Uint16Array
    | Int8Array
    | Uint8Array;
}
export interface TensorFile {
  tensors: Map<string, FileTensor>;
  metadata: Map<string, string>;
}

/** One conformance case, run. */
export interface CaseResult {
  name: string;
  op: string;
  passed: boolean;
  /** null when nothing could be compared */ maxAbsolute: number | null;
  maxRelative: number | null;
  message: string;
}
