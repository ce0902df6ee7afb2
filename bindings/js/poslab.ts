// SPDX-License-Identifier: MIT
// The package's main object: every encoding and the attention that uses them (attention-lab.ts), configs and checkpoints,
// and experiments.

import { AttentionLab } from "./attention-lab.js";
import type { CaseObject, Diagnosis } from "./check.js";
import type { ConfigExplanation, ExplainOptions } from "./config/types.js";
import type { Core } from "./core-interface.js";
import { unwrap } from "./errors.js";
import { completeExperiment } from "./experiment.js";
import { LabCorpus, unknownSymbol } from "./lab-corpus.js";
import { LabRun } from "./lab-run.js";
import type { FileLike, Model, OpenModelOptions } from "./models.js";
import { coreTask } from "./run-description.js";
import { checkOptions, readCount } from "./tensors.js";
import type { CompleteExperiment, ExperimentOptions, ExperimentResult, Task, TaskInfo, TaskSample } from "./types.js";
import type { Variant } from "./wasm-module.js";

/** Made by `loadPosLab`. */
export class PosLab extends AttentionLab {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core, variant: Variant) {
    super(core, variant);
    this.#core = core;
  }

  /**
   * What a model's config says about positions: its scheme objects with their frequencies, the key that each value came
   * from, and cautions. Takes a config.json (text or parsed), GGUF metadata, or a file's bytes. The reader ("poslab/config",
   * `explainConfig`) is loaded when this is called, so that programs that never call it do not carry it.
   * @param options.layer one layer only, by index or kind
   * @param options.length the running length that dynamic and longrope scalings look at; default 0
   */
  async fromConfig(config: unknown, options: Omit<ExplainOptions, "lab"> = {}): Promise<ConfigExplanation> {
    const { explainConfig, readConfigFile } = await import("./config.js");
    const isFile = config instanceof Uint8Array || config instanceof Blob;
    return explainConfig(isFile ? await readConfigFile(config) : config, { ...options, lab: this });
  }

  /**
   * Opens a checkpoint (safetensors with config.json, GGUF, llama2.c's .bin, weights of an experiment) from a path, File,
   * Blob, bytes or range reader, or several of them: `openModel` of "poslab/models", which is loaded when it is called.
   */
  async openModel(files: FileLike | readonly FileLike[], options: OpenModelOptions = {}): Promise<Model> {
    return (await import("./models.js")).openModel(files, options);
  }

  /**
   * Runs a conformance case (a safetensors file's bytes, or description and tensors) and, where it fails, names the
   * conventions under which its expected values would be right: another lane layout, other slopes, a missing scale, ...
   * Loaded when called, from "poslab/check".
   */
  async diagnose(given: Uint8Array | CaseObject): Promise<Diagnosis> {
    return (await import("./check.js")).diagnose(this, given);
  }

  // ---------------------------------------------------------------------------------------------- the lab

  /** The tasks of experiments; `guessAccuracy` is that of random guessing. */
  tasks(): TaskInfo[] {
    return this.#core.tasks().map(({ type, text, vocabulary, guessAccuracy }) => ({
      type: type as Task["type"],
      text,
      vocabulary,
      guessAccuracy,
    }));
  }

  /** A row such as training draws, written out: for text tasks from a corpus. */
  sample(task: Task, options: { length: number; seed?: number; corpus?: LabCorpus }): TaskSample {
    checkOptions(options, ["length", "seed", "corpus"]);
    const { corpus, seed = 1 } = options;
    const length = readCount(options.length, "length");
    const { ids, targets } = unwrap(this.#core.sample(coreTask(task), corpus ? corpus.handle : null, length, seed));
    const toySymbols = this.#core.tasks().find(({ type }) => type === task.type)?.symbols ?? "";
    const write = (all: ArrayLike<number>): string[] =>
      corpus ? corpus.decode(all) : Array.from(all, (id) => toySymbols[id] ?? unknownSymbol);
    const answers = write(targets).map((symbol, place) => (targets[place]! < 0 ? null : symbol));
    return { symbols: write(ids), answers };
  }

  /** A corpus from UTF-8 bytes or a text. It owns memory: dispose of it, or forget it. */
  corpus(text: Uint8Array | string, unit: "characters" | "bytes" = "characters"): LabCorpus {
    return LabCorpus.make(this.#core, text, unit);
  }

  /**
   * Checks an experiment with all that the core knows of encodings, and fills in every field. Text tasks need their
   * corpus, or the text itself in `task.text`.
   */
  checkExperiment(json: unknown, corpus: LabCorpus | null = null): CompleteExperiment {
    const experiment = completeExperiment(json);
    const { task } = experiment;
    const own = corpus === null && task.type === "text" && task.text !== undefined;
    const used = own ? this.corpus(task.text!, task.unit) : corpus;
    try {
      experiment.encodings.forEach((_, encoding) =>
        LabRun.make(this.#core, experiment, encoding, experiment.seeds[0]!, used).dispose(),
      );
    } finally {
      if (own) used?.dispose();
    }
    return experiment;
  }

  /** One run of an experiment, to be driven slice by slice. It owns memory: dispose of it, or forget it. */
  createRun(experiment: CompleteExperiment, encoding: number, seed: number, corpus: LabCorpus | null = null): LabRun {
    return LabRun.make(this.#core, completeExperiment(experiment), encoding, seed, corpus);
  }

  /**
   * Runs an experiment in this thread, in slices, one run after the other (`runExperiment` of "poslab/run" spreads them
   * over workers and gives the same numbers).
   * @throws ExperimentInterrupted when `signal` fires: its `state` resumes the experiment, bit for bit.
   */
  async experiment(json: unknown, options: ExperimentOptions = {}): Promise<ExperimentResult> {
    return (await import("./experiment-run.js")).runInThread(this, json, options);
  }

  /** @internal for conformance cases that follow given batches */
  get core(): Core {
    return this.#core;
  }
}
