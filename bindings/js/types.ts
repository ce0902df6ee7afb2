// SPDX-License-Identifier: MIT
// The public types of the package: tensors, scheme objects, masks, options and results. Names are the field's own and
// the same in C++, in case files, in experiment JSON and on the page.

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

// ------------------------------------------------------------------------------------------------ schemes

/** The logits grow with the query's position p; an option of schemes. */
export interface Temperature {
  /** max(1, ln(p + 1) / ln(length)); 1 + scale ln(1 + floor((p + 1) / length)); s_h ln(p + 1), s learned */ kind:
    "log-n" | "llama4" | "ssmax";
  /** log-n: the trained length; llama4: 8192 */ length?: number;
  /** llama4: 0.1 */ scale?: number;
}
export interface NoPosition {
  type: "none";
  temperature?: Temperature;
  /** of ssmax [H] */ temperatures?: TensorLike;
}
/** Vaswani et al. 2017, section 3.5. */
export interface Sinusoidal {
  type: "sinusoidal";
  /** default 10000 */ base?: number;
  /** default "interleaved" */ layout?: "interleaved" | "concatenated";
  /** "half-dim-minus-one": tensor2tensor, fairseq, Whisper; default "dim" */ denominator?:
    "dim" | "half-dim-minus-one";
  /** times a learned number, false */ scaled?: boolean;
  /** [1] */ scale?: TensorLike;
}
/** A learned table of absolute positions (BERT, GPT-2; offset 2 as in OPT). */
export interface Learned {
  type: "learned";
  /** row of position 0, default 0 */ offset?: number;
  /** when the table is yet to be made */ rows?: number;
  table?: TensorLike;
}
/** Shaw et al. 2018; distances j - i are clipped to [-maxDistance, maxDistance]. */
export interface Shaw {
  type: "shaw";
  maxDistance?: number;
  keys?: TensorLike;
  values?: TensorLike;
}
/** Dai et al. 2019. */
export interface TransformerXL {
  type: "transformer-xl";
  base?: number;
  clampLength?: number;
  /** W_r [H*D, dModel] */ projection?: TensorLike;
  /** u [H, D] */ contentBias?: TensorLike;
  /** v [H, D] */ positionBias?: TensorLike;
}
/** Raffel et al. 2020. */
export interface T5 {
  type: "t5";
  /** 32 */ buckets?: number;
  /** 128 */ maxDistance?: number;
  /** false */ bidirectional?: boolean;
  /** [buckets, H] */ table?: TensorLike;
}
export interface RopeScaling {
  ropeType: "default" | "linear" | "ntk" | "dynamic" | "yarn" | "longrope" | "llama3" | "proportional";
  factor?: number;
  originalMaxPositionEmbeddings?: number;
  attentionFactor?: number;
  betaFast?: number;
  betaSlow?: number;
  mscale?: number;
  mscaleAllDim?: number;
  truncate?: boolean;
  shortFactor?: readonly number[];
  longFactor?: readonly number[];
  lowFreqFactor?: number;
  highFreqFactor?: number;
  partialRotaryFactor?: number;
}
/** Su et al. 2021. */
export interface Rope {
  type: "rope";
  /** 10000 */ theta?: number;
  /** default "half" */ layout?: "half" | "interleaved";
  /** default: the head */ rotaryDim?: number;
  scaling?: RopeScaling;
  maxPositionEmbeddings?: number;
  /** false */ learnedFrequencies?: boolean;
  /** [rotaryDim / 2], what the frequencies are multiplied by */ frequencyFactors?: TensorLike;
  /** every n-th layer of a model does not turn (Llama 4, SmolLM3); default: every layer turns */
  noRopeLayerInterval?: number;
  /** llama4 warms up the layers that do not turn, if there are such */ temperature?: Temperature;
  /** of ssmax [H] */ temperatures?: TensorLike;
}
/** Press et al. 2022; the bias is -slope * |i - j|. */
export interface Alibi {
  type: "alibi";
  slopes?: "standard" | readonly number[];
  /** of keys after the query, one a head; default: as slopes */ futureSlopes?: readonly number[];
  /** the first heads have the standard slopes of this many, the others none; default: all */ biasedHeads?: number;
}
/** Sun et al. 2022. */
export interface Xpos {
  type: "xpos";
  theta?: number;
  /** 512 */ scaleBase?: number;
  /** default "interleaved" */ layout?: "half" | "interleaved";
}
/** Chi et al. 2022. */
export interface Kerple {
  type: "kerple";
  /** default "log" */ kind?: "log" | "power";
  r1?: TensorLike;
  r2?: TensorLike;
}

/** Li et al. 2024; a perceptron of the distance as a share of the query's reach. */
export interface Fire {
  type: "fire";
  /** of the hidden layer, 32 */ width?: number;
  /** shorter reaches count as this one, 512 */ threshold?: number;
  /** [1] */ c?: TensorLike;
  /** [1], what threshold is multiplied by */ lengthFactor?: TensorLike;
  /** [width, 1] */ weight1?: TensorLike;
  /** [width] */ bias1?: TensorLike;
  /** [H, width] */ weight2?: TensorLike;
  /** [H] */ bias2?: TensorLike;
}
/** Chi et al. 2023. */
export interface Sandwich {
  type: "sandwich";
  /** 10000 */ base?: number;
  /** of the sinusoids, 128 */ dim?: number;
}
/** Wennberg & Henter 2021. */
export interface Tisa {
  type: "tisa";
  /** bells a head, 5 */ kernels?: number;
  /** [H, kernels] */ amplitudes?: TensorLike;
  /** [H, kernels] */ sharpnesses?: TensorLike;
  /** [H, kernels] */ offsets?: TensorLike;
}
/** A learned number a clipped distance and head. */
export interface RelativeScalar {
  type: "relative-scalar";
  /** 128 */ maxDistance?: number;
  /** [2 maxDistance + 1, H] */ table?: TensorLike;
}
/** Wang et al. 2022 (CrossFormer), x-transformers; tensors weight1, bias1, ..., one pair a layer. */
export interface DynamicBias {
  type: "dynamic-bias";
  /** of the hidden layers, 32 */ width?: number;
  /** hidden layers, 2 */ depth?: number;
  /** default "linear" */ distance?: "linear" | "log";
  [tensor: `weight${number}` | `bias${number}`]: TensorLike;
}

/** Golovneva et al. 2024; positions are counted in gates of the content. */
export interface Cope {
  type: "cope";
  /** counts beyond the last share it, 64 */ positions?: number;
  /** [positions, D] */ table?: TensorLike;
}
/** Lin et al. 2025; a call needs `gates`, a model learns them. */
export interface Forgetting {
  type: "forgetting";
}
/** He et al. 2021. */
export interface Deberta {
  type: "deberta";
  /** 128 */ maxDistance?: number;
  /** logarithmic ones beyond half of them (v2, v3); default: none (v1) */ buckets?: number;
  /** default "both" */ terms?: "both" | "c2p" | "p2c";
  /** [2 maxDistance or 2 buckets, dModel] */ table?: TensorLike;
  /** [H*D, dModel] */ keyProjection?: TensorLike;
  /** [H*D, dModel] */ queryProjection?: TensorLike;
}
/** Zheng et al. 2024; the tensors of the base too. */
export interface Dape {
  type: "dape";
  /** default "kerple" */ base?: "kerple" | "alibi" | "t5" | "sandwich" | "tisa" | "relative-scalar";
  /** of the hidden layer, 32 */ width?: number;
  /** [width, 2 H] */ weight1?: TensorLike;
  /** [width] */ bias1?: TensorLike;
  /** [H, width] */ weight2?: TensorLike;
  /** [H] */ bias2?: TensorLike;
  r1?: TensorLike;
  r2?: TensorLike;
  table?: TensorLike;
  amplitudes?: TensorLike;
  sharpnesses?: TensorLike;
  offsets?: TensorLike;
}
/** Gopalakrishnan et al. 2025. */
export interface Pope {
  type: "pope";
  /** 10000 */ theta?: number;
  /** [H, D] */ phases?: TensorLike;
}

/** Schemes of the registry. A scheme that this version does not know is refused with the nearest name. */
export type Position =
  | NoPosition
  | Sinusoidal
  | Learned
  | Shaw
  | TransformerXL
  | T5
  | Rope
  | Alibi
  | Xpos
  | Kerple
  | Fire
  | Sandwich
  | Tisa
  | RelativeScalar
  | DynamicBias
  | Cope
  | Forgetting
  | Deberta
  | Dape
  | Pope;

// ------------------------------------------------------------------------------------------------ calls

export interface Mask {
  causal?: boolean;
  /** default "bottom-right": the last query sees the last key */ alignment?: "bottom-right" | "top-left";
  /** a query sees itself and window - 1 keys before it; needs causal */ window?: number;
  /**
   * [Lk], never falling: documents packed into one row, by number. A query sees the keys of the document of the key at
   * its own place, and no others.
   */
  documents?: IntegerArray;
}
export interface AttentionOptions {
  /** [H, Lq, D] */ query: TensorLike;
  /** [Hkv, Lk, D]; Hkv divides H */ key: TensorLike;
  /** [Hkv, Lk, Dv] */ value: TensorLike;
  position?: Position;
  mask?: Mask;
  /** [Lk], 0 = hidden */ keyMask?: ArrayLike<number> | BigInt64Array;
  queryPositions?: IntegerArray;
  keyPositions?: IntegerArray;
  /** default 1 / sqrt(D); T5 as published uses 1 */ scale?: number;
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
  tied?: boolean;
  parallel?: boolean;
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
}
export type Encoding = Position & { label?: string };
export interface AtTest {
  /** index of the encoding */ of: number;
  position?: Position;
  window?: number;
  shift?: number;
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
  training: Required<Omit<TrainingOptions, "tokens">>;
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
