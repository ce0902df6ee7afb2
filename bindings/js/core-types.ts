// SPDX-License-Identifier: MIT
// What crosses the border between the TypeScript layer and the WebAssembly module, as plain objects: arguments and
// answers of the calls in core-interface.ts.

/** Numbers that the module copies from: any typed array but the 64-bit integer ones, or a plain array. */
export type NumberSource = ArrayLike<number>;
/** int64 ids as the bytes of a BigInt64Array. */
export type IdBytes = Uint8Array;
/** Position ids, `axes` of them a token. */
export interface CorePositions {
  ids: IdBytes;
  axes: number;
}

/** poslab::Status as data. `code` is the name of the enumerator without its k, first letter lower-case. */
export interface Failure {
  code: string;
  argument: string;
  given: string;
  givenNumber: number | null;
  allowed: string;
  limits: number[];
  suggestion: string;
}
/** A failure, or what the call gives. */
export type Outcome<T> = { failure: Failure } | (T & { failure?: undefined });

export interface FlatField {
  name: string;
  value: number | boolean | string | NumberSource;
}
export interface FlatTensor {
  name: string;
  data: NumberSource;
  shape: number[];
}
/**
 * A scheme object without its structure: nested fields by dotted name, tensors apart. `lists` are flat lists of numbers
 * at the top level: the scheme itself tells whether each is a field (slopes) or a learnable tensor (r1).
 */
export interface FlatScheme {
  type: string;
  fields: FlatField[];
  tensors: FlatTensor[];
  lists: { name: string; data: NumberSource }[];
}

export interface CoreTensor {
  data: Float32Array;
  shape: number[];
}
export interface NamedTensor extends CoreTensor {
  name: string;
}
export interface CoreTensors {
  tensors: NamedTensor[];
}
export interface CoreInput {
  data: NumberSource;
  shape: number[];
}
export interface CoreSchemeInfo {
  type: string;
  /** names of hooks with a space between */ hooks: string;
  gates: boolean;
}
/** What surrounds a scheme; 0 is "not known here". */
export interface CoreSizes {
  heads: number;
  headDim: number;
  dim: number;
  length: number;
}
export interface CoreFrequencies {
  inverseFrequencies: Float64Array;
  attentionFactor: number;
}

/** How position ids are drawn; `chunks` matters to "pose" alone. */
export interface CorePositionDraw {
  policy: string;
  maximum: number;
  chunks: number;
}

/** `group` 0: as a change at test time needs it. */
export interface CoreDistances {
  policy: string;
  window: number;
  group: number;
}

export interface CoreAttentionCall {
  query: CoreInput;
  key: CoreInput;
  value: CoreInput;
  outputGradient?: CoreInput;
  causal: boolean;
  topLeft: boolean;
  window: number | null;
  scale: number | null;
  /** [H, Lk] */ gates: CoreInput | null;
  /** [H] */ sinks: CoreInput | null;
  keyMask: Uint8Array | null;
  documents: IdBytes | null;
  queryPositions: CorePositions | null;
  keyPositions: CorePositions | null;
  distances: CoreDistances | null;
  weights: boolean;
  scores: boolean;
  logSumExp: boolean;
}
export interface CoreAttentionResult {
  output: CoreTensor;
  weights?: CoreTensor;
  scores?: CoreTensor;
  logSumExp?: CoreTensor;
}
export interface CoreGradients {
  query: CoreTensor;
  key: CoreTensor;
  value: CoreTensor;
  position: NamedTensor[];
  gates?: CoreTensor;
  sinks?: CoreTensor;
}

export interface CoreTask {
  type: string;
  distance: number;
  position: number;
}
export interface CoreTaskInfo {
  type: string;
  text: boolean;
  vocabulary: number;
  guessAccuracy: number;
  /** how id n is written */ symbols: string;
}
/** Targets of -1 are not scored. */
export interface CoreRow {
  ids: Int32Array;
  targets: Int32Array;
}
export interface CoreModelShape {
  vocabulary: number;
  dim: number;
  heads: number;
  keyValueHeads: number;
  layers: number;
  feedForward: number;
  trainedLength: number;
  norm: string;
  normPlacement: string;
  activation: string;
  gated: boolean;
  sinks: string;
  bias: boolean | null;
  tied: boolean;
  parallel: boolean;
}
export interface CoreOptimizer {
  learningRate: number;
  warmup: number;
  steps: number;
  weightDecay: number;
  clip: number;
  beta1: number;
  beta2: number;
}
export interface CoreChange {
  position: FlatScheme | null;
  window: number | null;
  shift: number | null;
  distances: CoreDistances | null;
  interpolate: boolean;
}
export interface CoreRunDescription {
  task: CoreTask;
  model: CoreModelShape;
  optimizer: CoreOptimizer;
  length: number;
  batch: number;
  position: FlatScheme;
  trainPositions: CorePositionDraw | null;
  atTest: CoreChange[];
  testLengths: number[];
  windows: number;
  seed: number;
}
/** `loss` is NaN before the first step; `measured` counts windows. */
export interface CoreProgress {
  phase: "training" | "measuring" | "done";
  step: number;
  steps: number;
  loss: number;
  measured: number;
  toMeasure: number;
}
/** `reason` says why the length is not defined; numbers are NaN where nothing is scored. */
export interface CoreLengthResult {
  length: number;
  reason: Failure | null;
  loss: number;
  lossError: number;
  lossAtEnd: number;
  lossAtEndError: number;
  accuracy: number;
  accuracyAtEnd: number;
}
export interface CorePositionResult {
  binWidth: number;
  loss: number[];
}
export interface CoreRunResults {
  byLength: CoreLengthResult[];
  byPosition: CorePositionResult;
  atTest: CoreLengthResult[][];
}
export interface CoreMeasuring {
  done: boolean;
  result?: CoreLengthResult;
  byPosition?: CorePositionResult;
}
export interface CoreGenerated {
  ids: Int32Array;
  losses: Float32Array;
}
export interface CoreParameter {
  name: string;
  shape: number[];
  offset: number;
  size: number;
}

/** A whole architecture with every default filled in (models/model-description.ts explains the fields). */
export interface CoreArchitecture {
  dim: number;
  vocabulary: number;
  trainedLength: number;
  encoder: CoreStack | null;
  decoder: CoreStack | null;
  separateEmbeddings: boolean;
  tokenTypes: number;
  image: {
    channels: number;
    patch: number;
    height: number;
    width: number;
    classToken: boolean;
    patchBias: boolean;
  } | null;
  memoryLength: number;
  head: {
    outputs: number;
    tied: boolean;
    scale: number;
    bias: boolean;
    transform: string | null;
    pooling: string;
  } | null;
}
export interface CoreStack {
  layers: number;
  heads: number;
  keyValueHeads: number;
  headDim: number;
  feedForward: number;
  causal: boolean;
  /** one for all layers, or one a layer */ position: FlatScheme[];
  /** null: attention's default */ scale: number | null;
  /** one a layer, 0: none */ window: number[];
  norm: { kind: string; place: string; epsilon: number; bias: boolean };
  finalNorm: boolean;
  embeddingNorm: boolean;
  embeddingScale: number;
  parallel: string;
  activation: string;
  gated: boolean;
  bias: Record<"query" | "key" | "value" | "attentionOutput" | "gate" | "in" | "out", boolean>;
  queryKeyNorm: string;
  sinks: string;
}
/** One sequence; null is "not given". */
export interface CoreModelInput {
  ids: NumberSource | null;
  pixels: CoreInput | null;
  attentionMask: Uint8Array | null;
  positions: IdBytes | null;
  tokenTypes: NumberSource | null;
  memory: CoreInput | null;
  decoderIds: NumberSource | null;
}
export interface CorePositionChange {
  position: FlatScheme | null;
  decoderPosition: FlatScheme | null;
  window: number | null;
  shift: number;
}
export interface CoreTensorPlace {
  name: string;
  shape: number[];
}
export interface CoreMemoryEstimate {
  weights: number;
  pass: number;
  cachePerToken: number;
}
