// SPDX-License-Identifier: MIT
// One run of an experiment in this thread, driven slice by slice: train, measure, generate, look, save and go on. The
// controllers of run-controller.ts, which answer in time and report by themselves, are made of it.

import type { Core, CoreRun } from "./core-interface.js";
import type { CoreParameter, CoreProgress } from "./core-types.js";
import { PosLabError, unwrap, wrongArgument } from "./errors.js";
import { LabCorpus, unknownSymbol } from "./lab-corpus.js";
import { Owner } from "./owner.js";
import { coreChange, coreRunDescription, coreTask, entriesOf, lengthEntry, renameArgument } from "./run-description.js";
import type {
  AttentionInputs,
  AttentionLook,
  AttentionPicture,
  Generated,
  GenerateOptions,
  TestChange,
} from "./run-types.js";
import { readSafetensors, type TensorToWrite, writeSafetensors } from "./safetensors.js";
import { checkOptions, readNatural } from "./tensors.js";
import type { CompleteExperiment, ExperimentModel, LengthEntry, RunResult, Tensor } from "./types.js";

/** One tested length: `byPosition` in bins. */
export interface LengthMeasurement {
  entry: LengthEntry;
  byPosition: { binWidth: number; loss: (number | null)[] };
}

/** A training curve has a point every so many steps. */
const stepsPerPoint = 50;
const stateName = "poslab.state";
const lookOptions = ["text", "layer", "change"];

export class LabRun extends Owner<CoreRun> {
  readonly experiment: CompleteExperiment;
  readonly encoding: number;
  readonly seed: number;
  /** Seconds spent on training, earlier parts of a resumed run included. */
  trainingSeconds = 0;
  readonly #module: Core;
  readonly #corpus: LabCorpus | null;
  readonly #toySymbols: string;
  readonly #parameters: CoreParameter[];

  private constructor(
    module: Core,
    core: CoreRun,
    experiment: CompleteExperiment,
    encoding: number,
    seed: number,
    corpus: LabCorpus | null,
  ) {
    super(core, "the run");
    this.experiment = experiment;
    this.encoding = encoding;
    this.seed = seed;
    this.#module = module;
    this.#corpus = corpus;
    this.#toySymbols = module.tasks().find(({ type }) => type === experiment.task.type)?.symbols ?? "";
    this.#parameters = core.parameters();
  }

  /** @internal made by PosLab.createRun */
  static make(
    core: Core,
    experiment: CompleteExperiment,
    encoding: number,
    seed: number,
    corpus: LabCorpus | null,
  ): LabRun {
    readNatural(seed, "seed");
    if (readNatural(encoding, "encoding") >= experiment.encodings.length)
      throw wrongArgument("range", "encoding", encoding, `from 0 to ${experiment.encodings.length - 1}`);
    if (corpus !== null && !(corpus instanceof LabCorpus))
      throw wrongArgument("type", "corpus", corpus, "what lab.corpus made");
    if (corpus === null && experiment.task.type === "text")
      throw new PosLabError("missing", "corpus is missing; what lab.corpus makes of the text is needed", {
        argument: "corpus",
      });
    const description = coreRunDescription(experiment, encoding, seed);
    const outcome = core.makeRun(description, corpus && corpus.handle);
    const { Run: run } = unwrap(outcome, renameArgument(experiment, encoding));
    return new LabRun(core, run, experiment, encoding, seed, corpus);
  }

  /** Numbers that are learned. */
  get parameterCount(): number {
    return this.#parameters.reduce((sum, { size }) => sum + size, 0);
  }

  progress(): CoreProgress {
    return this.core.progress();
  }

  /**
   * The next slice: up to `steps` training steps, or as much measuring as costs about the same.
   * @throws PosLabError (diverged) at the step where a number is not finite any more; the last good weights stay.
   */
  advance(steps: number): void {
    readNatural(steps, "steps");
    const before = this.core.progress();
    const started = performance.now();
    const outcome = this.core.advance(steps);
    if (before.phase === "training") this.trainingSeconds += (performance.now() - started) / 1000;
    unwrap(outcome, renameArgument(this.experiment, this.encoding));
  }

  /** Ends training here; what follows is measuring. */
  skipToMeasuring(): void {
    this.core.skipToMeasuring();
  }

  /** The training loss of every step from `from` on. */
  losses(from = 0): Float64Array {
    return this.core.losses(from);
  }

  /** What is known so far, in the form of the experiment's result. */
  result(): RunResult {
    const results = this.core.results();
    const isText = this.experiment.task.type === "text";
    const { step } = this.progress();
    const tokens = step * this.experiment.training.batch * this.experiment.training.length;
    return {
      encoding: this.encoding,
      seed: this.seed,
      parameters: this.parameterCount,
      steps: step,
      seconds: rounded(this.trainingSeconds),
      tokensPerSecond: this.trainingSeconds > 0 ? Math.round(tokens / this.trainingSeconds) : 0,
      training: trainingCurve(this.losses()),
      byLength: results.byLength.map((entry) => lengthEntry(entry, isText)),
      byPosition: { binWidth: results.byPosition.binWidth, loss: withoutNaN(results.byPosition.loss) },
      atTest: entriesOf(this.experiment, this.encoding).map((entry, index) => ({
        entry,
        byLength: (results.atTest[index] ?? []).map((result) => lengthEntry(result, isText)),
      })),
    };
  }

  /**
   * Measures the weights as they are now at one length, in slices: each `next()` does one. Train only after it has
   * ended.
   * @param windowsPerSlice may change from slice to slice
   */
  *measuring(
    change: TestChange,
    length: number,
    windows: number,
    windowsPerSlice: () => number,
  ): Generator<void, LengthMeasurement> {
    const isText = this.experiment.task.type === "text";
    const undefinedEntry = (failure: NonNullable<ReturnType<CoreRun["advance"]>["failure"]>): LengthMeasurement => {
      const nothing = {
        length,
        loss: NaN,
        lossError: NaN,
        lossAtEnd: NaN,
        lossAtEndError: NaN,
        accuracy: NaN,
        accuracyAtEnd: NaN,
      };
      return { entry: lengthEntry({ ...nothing, reason: failure }, isText), byPosition: { binWidth: 0, loss: [] } };
    };
    unwrap(this.core.startMeasuring(coreChange(change, "change"), length, windows));
    for (;;) {
      const slice = this.core.advanceMeasuring(Math.max(1, Math.floor(windowsPerSlice())));
      // What is not defined (a position past a learned table) is an answer; everything else is an error.
      if (slice.failure?.code === "notDefined") return undefinedEntry(slice.failure);
      const { done, result, byPosition } = unwrap(slice);
      if (done && result && byPosition) {
        return {
          entry: lengthEntry(result, isText),
          byPosition: { binWidth: byPosition.binWidth, loss: withoutNaN(byPosition.loss) },
        };
      }
      yield;
    }
  }

  /** Continues a text (of a toy task: a row of it) with the model's own choices. */
  generate(options: GenerateOptions = {}): Generated {
    checkOptions(options, ["prompt", "promptLength", "count", "temperature", "seed", "change"]);
    const ids =
      options.prompt === undefined ? this.#testIds(options.promptLength ?? 32) : this.#encode(options.prompt, "prompt");
    const count = readNatural(options.count ?? 2 * this.experiment.training.length, "count");
    const made = unwrap(
      this.core.generate(
        ids,
        count,
        options.temperature ?? 0.8,
        options.seed ?? 1,
        coreChange(options.change ?? {}, "change"),
      ),
    );
    return {
      prompt: this.#decode(ids).join(""),
      promptLength: ids.length,
      pieces: this.#decode(made.ids),
      losses: made.losses,
    };
  }

  /** Who looks at whom in a layer. */
  attention(options: AttentionLook = {}): AttentionPicture {
    checkOptions(options, lookOptions);
    const ids = options.text === undefined ? this.#testIds(48) : this.#encode(options.text, "text");
    const { data, shape } = unwrap(
      this.core.attentionWeights(ids, options.layer ?? 0, coreChange(options.change ?? {}, "change")),
    );
    return { symbols: this.#decode(ids), weights: { data, shape } };
  }

  /** What a layer's attention reads: with `lab.attention` and the scheme, the same weights as `attention` gives. */
  attentionInputs(options: AttentionLook = {}): AttentionInputs {
    checkOptions(options, lookOptions);
    const ids = options.text === undefined ? this.#testIds(48) : this.#encode(options.text, "text");
    const { rows, gates } = unwrap(
      this.core.queryKeyValue(ids, options.layer ?? 0, coreChange(options.change ?? {}, "change")),
    );
    const { heads, keyValueHeads, dim } = this.experiment.model;
    const headDim = dim / heads;
    const part = (first: number, count: number): Tensor => headsOf(rows, first, count, headDim);
    return {
      symbols: this.#decode(ids),
      query: part(0, heads),
      key: part(heads, keyValueHeads),
      value: part(heads + keyValueHeads, keyValueHeads),
      ...(gates ? { gates } : {}),
    };
  }

  #testIds(count: number): Int32Array {
    if (this.#corpus) return this.#corpus.testIds(0, count);
    return unwrap(this.#module.sample(coreTask(this.experiment.task), null, count, 1)).ids;
  }

  #encode(text: string, argument: string): Int32Array {
    if (typeof text !== "string") throw wrongArgument("type", argument, text, "a text");
    if (this.#corpus) return this.#corpus.encode(text);
    return Int32Array.from(text, (symbol, index) => {
      const id = this.#toySymbols.indexOf(symbol);
      if (id < 0)
        throw wrongArgument(
          "range",
          `${argument}[${index}]`,
          symbol,
          `one of the task's symbols, ${this.#toySymbols},`,
        );
      return id;
    });
  }

  #decode(ids: ArrayLike<number>): string[] {
    return this.#corpus ? this.#corpus.decode(ids) : Array.from(ids, (id) => this.#toySymbols[id] ?? unknownSymbol);
  }

  /** The weights by name, as safetensors, with what `openModel` of "poslab/models" needs to open them again. */
  weights(dtype: "F32" | "F16" = "F32"): Uint8Array {
    return writeSafetensors(this.#tensors(dtype), {
      format: "pt",
      "poslab.model": JSON.stringify(this.#modelOfWeights()),
      "poslab.encoding": JSON.stringify(this.experiment.encodings[this.encoding]),
      "poslab.seed": String(this.seed),
      "poslab.step": String(this.progress().step),
    });
  }

  #modelOfWeights(): ExperimentModel {
    const vocabulary = this.#parameters[0]!.shape[0]!; // the rows of embedding.weight
    const symbols = this.#corpus
      ? this.#corpus.decode(Array.from({ length: vocabulary - 1 }, (_, id) => id))
      : [...this.#toySymbols];
    return {
      model: this.experiment.model,
      vocabulary,
      length: this.experiment.training.length,
      encoding: this.experiment.encodings[this.encoding]!,
      unit: this.#corpus?.unit ?? "characters",
      symbols,
    };
  }

  *#tensors(dtype: "F32" | "F16"): Generator<[string, TensorToWrite]> {
    const weights = this.core.weights();
    for (const { name, shape, offset, size } of this.#parameters)
      yield [name, { data: weights.subarray(offset, offset + size), shape, dtype }];
  }

  /** Sets the weights by name, from safetensors of any float type. Nothing may be missing. */
  setWeights(file: Uint8Array): void {
    const { tensors } = readSafetensors(file);
    const weights = this.core.weights();
    for (const { name, shape, offset, size } of this.#parameters) {
      const tensor = tensors.get(name);
      if (!tensor) throw new PosLabError("missing", `weights: the tensor ${name} is missing`, { argument: name });
      if (
        tensor.shape.join() !== shape.join() ||
        !(tensor.data instanceof Float32Array || tensor.data instanceof Float64Array)
      ) {
        throw wrongArgument(
          "shape",
          `weights: ${name}`,
          `${tensor.dtype} [${tensor.shape.join(", ")}]`,
          `a float tensor [${shape.join(", ")}]`,
        );
      }
      weights.set(tensor.data, offset);
      if (tensor.data.length !== size)
        throw wrongArgument("shape", `weights: ${name}`, tensor.data.length, `${size} numbers`);
    }
    unwrap(this.core.setWeights(weights));
  }

  /** Everything that a resumed run needs, as safetensors: the weights by name, and the core's state beside them. */
  snapshot(): Uint8Array {
    const { bytes } = unwrap(this.core.saveState());
    const tensors = [
      ...this.#tensors("F32"),
      [stateName, { data: bytes, shape: [bytes.length], dtype: "U8" }] as [string, TensorToWrite],
    ];
    return writeSafetensors(tensors, {
      "poslab.seconds": String(this.trainingSeconds),
      "poslab.seed": String(this.seed),
    });
  }

  /**
   * Goes on from a snapshot, bit for bit.
   * @throws PosLabError when it belongs to another experiment, encoding, seed or text, or is damaged.
   */
  restore(snapshot: Uint8Array): void {
    const { tensors, metadata } = readSafetensors(snapshot);
    const state = tensors.get(stateName);
    if (!state || !(state.data instanceof Uint8Array))
      throw new PosLabError("format", "state: these are weights without the state of a run", { argument: "state" });
    unwrap(this.core.loadState(state.data));
    this.setWeights(snapshot);
    const seconds = Number(metadata.get("poslab.seconds"));
    this.trainingSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
  }
}

/** Heads `first` and on of rows [length, all heads * headDim], as [count, length, headDim]. */
function headsOf({ data, shape }: Tensor, first: number, count: number, headDim: number): Tensor {
  const [length = 0, width = 0] = shape;
  const heads = new Float32Array(count * length * headDim);
  for (let head = 0; head < count; head += 1) {
    for (let row = 0; row < length; row += 1) {
      const from = row * width + (first + head) * headDim;
      heads.set(data.subarray(from, from + headDim), (head * length + row) * headDim);
    }
  }
  return { data: heads, shape: [count, length, headDim] };
}

function withoutNaN(values: readonly number[]): (number | null)[] {
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** [step, mean loss since the last point]; the last steps make a point of their own. */
function trainingCurve(losses: Float64Array): [number, number][] {
  const points: [number, number][] = [];
  for (let begin = 0; begin < losses.length; begin += stepsPerPoint) {
    const part = losses.subarray(begin, Math.min(begin + stepsPerPoint, losses.length));
    points.push([begin + part.length, part.reduce((sum, loss) => sum + loss, 0) / part.length]);
  }
  return points;
}
