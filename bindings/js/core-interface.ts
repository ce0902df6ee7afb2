// SPDX-License-Identifier: MIT
// The modules' calls in types: what each takes and what it answers. In C++ they are the tables of bindings/embind.cpp,
// embind_lab.cpp and embind_models.cpp; core-calls.ts carries arguments and answers across. That the names are the same on both
// sides is checked at the end, against the declarations that Emscripten writes.

import type {
  CoreArchitecture,
  CoreAttentionCall,
  CoreAttentionResult,
  CoreChange,
  CoreFrequencies,
  CoreGenerated,
  CoreGradients,
  CoreInput,
  CoreMeasuring,
  CoreMemoryEstimate,
  CoreModelInput,
  CoreModelShape,
  CoreOptimizer,
  CoreParameter,
  CorePositionChange,
  CorePositionDraw,
  CorePositions,
  CoreProgress,
  CoreRow,
  CoreRunDescription,
  CoreRunResults,
  CoreSchemeInfo,
  CoreSizes,
  CoreTask,
  CoreTaskInfo,
  CoreTensor,
  CoreTensorPlace,
  CoreTensors,
  FlatScheme,
  IdBytes,
  NumberSource,
  Outcome,
} from "./core-types.js";
import type { MainModule as RawModelsModule } from "./wasm/poslab-models.js";

/** What every module offers: encodings and attention. */
export interface AttentionCore {
  /** The module's memory, as it is now. */
  readonly memory: ArrayBuffer;

  version(): string;
  schemes(): CoreSchemeInfo[];
  startParameters(scheme: FlatScheme, sizes: CoreSizes, seed: number): Outcome<CoreTensors>;
  table(scheme: FlatScheme, length: number, dim: number, start: number): Outcome<CoreTensor>;
  frequencies(scheme: FlatScheme, headDim: number, length: number): Outcome<CoreFrequencies>;
  rotate(
    scheme: FlatScheme,
    x: CoreInput,
    positions: CorePositions | null,
    options: { start: number; inverse: boolean; length: number },
  ): Outcome<CoreTensor>;
  /** Position ids by a policy. */
  drawPositions(draw: CorePositionDraw, length: number, seed: number): Outcome<{ ids: Float64Array }>;
  slopes(scheme: FlatScheme, heads: number): Outcome<CoreTensor>;
  buckets(scheme: FlatScheme, distances: IdBytes): Outcome<{ bytes: Uint8Array }>;
  bias(
    scheme: FlatScheme,
    heads: number,
    queryLength: number,
    keyLength: number,
    queryPositions: CorePositions | null,
    keyPositions: CorePositions | null,
  ): Outcome<CoreTensor>;

  attention(scheme: FlatScheme, options: CoreAttentionCall): Outcome<CoreAttentionResult>;
  attentionGradients(scheme: FlatScheme, options: CoreAttentionCall): Outcome<CoreGradients>;
}

/** The same and the lab. */
export interface Core extends AttentionCore {
  tasks(): CoreTaskInfo[];
  /** A row such as training draws. */
  sample(task: CoreTask, corpus: CoreCorpus | null, length: number, seed: number): Outcome<CoreRow>;
  makeCorpus(utf8: Uint8Array, bytes: boolean): Outcome<{ Corpus: CoreCorpus }>;
  makeRun(description: CoreRunDescription, corpus: CoreCorpus | null): Outcome<{ Run: CoreRun }>;
  makeTrainer(model: CoreModelShape, position: FlatScheme, optimizer: CoreOptimizer): Outcome<{ Trainer: CoreTrainer }>;
}

/** An object in the module's memory. */
interface CoreObject {
  delete(): void;
}

export interface CoreCorpus extends CoreObject {
  vocabulary(): number;
  trainingSize(): number;
  testSize(): number;
  /** code points or bytes by id, without the spare id */ symbols(): Int32Array;
  /** of the test part */ testIds(from: number, count: number): Int32Array;
}

/** What has a model. Weights and gradients are all of them, one after the other. */
interface CoreLearner extends CoreObject {
  parameters(): CoreParameter[];
  weights(): Float32Array;
  setWeights(weights: NumberSource): Outcome<object>;
}

export interface CoreRun extends CoreLearner {
  progress(): CoreProgress;
  advance(steps: number): Outcome<object>;
  skipToMeasuring(): void;
  /** one a step, from this step on */ losses(from: number): Float64Array;
  results(): CoreRunResults;
  startMeasuring(change: CoreChange, length: number, windows: number): Outcome<object>;
  advanceMeasuring(windows: number): Outcome<CoreMeasuring>;
  generate(
    prompt: NumberSource,
    count: number,
    temperature: number,
    seed: number,
    change: CoreChange,
  ): Outcome<CoreGenerated>;
  attentionWeights(ids: NumberSource, layer: number, change: CoreChange): Outcome<CoreTensor>;
  /** [length, all heads of q | k | v] */
  queryKeyValue(
    ids: NumberSource,
    layer: number,
    change: CoreChange,
  ): Outcome<{ /** [length, query | key | value] */ rows: CoreTensor; /** [heads, length] */ gates?: CoreTensor }>;
  saveState(): Outcome<{ bytes: Uint8Array }>;
  loadState(state: Uint8Array): Outcome<object>;
}

export interface CoreTrainer extends CoreLearner {
  /** Mean loss of a batch and its gradients, which `gradients` then has. */
  loss(ids: NumberSource, targets: NumberSource, batch: number, length: number): Outcome<{ loss: number }>;
  gradients(): Float32Array;
  /** One step of the optimiser; the norm is that before clipping. */
  update(): Outcome<{ gradientNorm: number }>;
  /** Losses by place, NaN where not scored. */
  score(ids: NumberSource, targets: NumberSource, batch: number, length: number): Outcome<{ losses: Float32Array }>;
}

/** The same and whole architectures: a module that only those load who open a checkpoint. */
export interface ModelsCore extends Core {
  makeTransformer(architecture: CoreArchitecture): Outcome<{ Transformer: CoreTransformer }>;
  estimateTransformer(architecture: CoreArchitecture, length: number): Outcome<CoreMemoryEstimate>;
}

export interface CoreTransformer extends CoreObject {
  tensors(): CoreTensorPlace[];
  missing(): string[];
  setTensor(name: string, numbers: NumberSource, from: number, transposed: boolean): Outcome<object>;
  change(change: CorePositionChange): Outcome<object>;
  logits(input: CoreModelInput): Outcome<CoreTensor>;
  losses(input: CoreModelInput, targets: NumberSource): Outcome<{ losses: Float32Array }>;
  attention(input: CoreModelInput, layer: number, kind: string): Outcome<CoreTensor>;
  hiddenStates(): Outcome<CoreTensor>;
  encode(input: CoreModelInput): Outcome<object>;
  append(ids: NumberSource): Outcome<{ logits: Float32Array }>;
  cached(): number;
  truncate(length: number): Outcome<object>;
}

type Methods<Kind extends string, Methods> = `${Kind}_${keyof Methods & string}`;
type Declared =
  | Exclude<keyof ModelsCore, "memory">
  | Methods<"Corpus", CoreCorpus>
  | Methods<"Run", CoreRun>
  | Methods<"Trainer", CoreTrainer>
  | Methods<"Transformer", CoreTransformer>;
type Offered = Exclude<keyof RawModelsModule, `HEAP${string}` | "reserve" | "answer" | "release">;
type Within<Names extends Others, Others> = Names;
/** Every call of the module is declared, and every declared one is there: otherwise this does not compile. */
export type Calls = [Within<Offered, Declared>, Within<Declared, Offered>];
