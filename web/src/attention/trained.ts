// SPDX-License-Identifier: MIT
// Queries and keys out of models that a race has trained. Either each encoding is shown with the model that was trained
// with it, or one model's queries and keys are shown under every encoding; what an encoding learns then comes from the
// model of the same race that learned it.

import type { CompleteExperiment, Encoding, PosLab, TestChange } from "../engine/poslab.js";
import { sameEncoding } from "../schemes/fields.js";
import { embeds, positionTensors, schemeOf, type SchemeTensors } from "./scheme-values.js";
import { Refusal, type PanelInputs, type VectorSource } from "./sources.js";

export interface RaceModels {
  /** tells one race from another */ id: string;
  experiment: CompleteExperiment;
  /** UTF-8 bytes of the race's text, null for toy tasks */ corpus: Uint8Array | null;
  /** one an encoding, in order */ weights: ({ seed: number; bytes: Uint8Array } | null)[];
}

type Corpus = ReturnType<PosLab["corpus"]>;
type Run = ReturnType<PosLab["createRun"]>;

/** The models of one race, opened when first asked for. They own memory: dispose of them. */
export class TrainedModels {
  #corpus: Corpus | null = null;
  readonly #runs = new Map<number, Run>();

  constructor(
    readonly lab: PosLab,
    readonly race: RaceModels,
  ) {}

  /** The encoding of the race that is this one, or of its type. */
  indexOf(encoding: Encoding): number {
    const { encodings } = this.race.experiment;
    const same = encodings.findIndex((own) => sameEncoding(own, encoding));
    return same >= 0 ? same : encodings.findIndex((own) => own.type === encoding.type);
  }
  has = (index: number): boolean => Boolean(this.race.weights[index]);

  run(index: number): Run {
    let run = this.#runs.get(index);
    if (!run) {
      const weights = this.race.weights[index];
      if (!weights) throw new Refusal("not-in-race");
      const { experiment, corpus } = this.race;
      const { task } = experiment;
      if (corpus && task.type === "text") this.#corpus ??= this.lab.corpus(corpus, task.unit);
      run = this.lab.createRun(experiment, index, weights.seed, this.#corpus);
      run.setWeights(weights.bytes);
      this.#runs.set(index, run);
    }
    return run;
  }
  tensors(index: number, layer: number): SchemeTensors {
    const weights = this.race.weights[index];
    return weights ? positionTensors(weights.bytes, layer) : {};
  }
  dispose(): void {
    for (const run of this.#runs.values()) run.dispose();
    this.#runs.clear();
    this.#corpus?.dispose();
    this.#corpus = null;
  }
}

export interface TrainedLook {
  /** index of the model whose queries and keys are shown, or null: each encoding with its own model */ model:
    number | null;
  layer: number;
  /** "": the first symbols of the test part */ text: string;
}

export class TrainedSource implements VectorSource {
  readonly symbols: readonly string[];
  readonly heads: number;
  readonly layers: number;
  readonly #known = new Map<string, PanelInputs>();

  constructor(
    readonly models: TrainedModels,
    readonly look: TrainedLook,
  ) {
    const { model } = models.race.experiment;
    this.heads = model.heads;
    this.layers = model.layers;
    const first = look.model ?? models.race.weights.findIndex((weights) => weights !== null);
    // Read with nothing added: a table may be shorter than the text.
    this.symbols = this.#read(first, { position: { type: "none" } }).symbols;
  }

  inputs(encoding: Encoding, offset: number): PanelInputs {
    const own = this.models.indexOf(encoding);
    const model = this.look.model ?? own;
    if (model < 0 || !this.models.has(model)) throw new Refusal("not-in-race");
    const acts = embeds(this.models.lab, encoding.type);
    const change = model === own && this.look.model === null ? {} : this.#changeTo(encoding, own, model, acts);
    if (encoding.type === "learned") this.#checkRows(own, offset);
    // Only what is added to the tokens moves queries and keys when the text moves.
    const moved = acts && offset > 0 ? { ...change, shift: offset } : change;
    const { query, key, gates } = this.#kept(model, moved);
    if (acts) return { query, key, position: { type: "none" } };
    const gated = this.models.lab.info.schemes.some((scheme) => scheme.type === encoding.type && scheme.gates);
    // A model reads gates off its own tokens.
    if (gated && own !== model) throw new Refusal("no-gates");
    const tensors = own < 0 ? {} : this.models.tensors(own, this.look.layer);
    // The fields that the tensors were learned with fit them.
    const learned = Object.keys(tensors).length > 0;
    const scheme = learned ? this.models.race.experiment.encodings[own]! : encoding;
    return { query, key, position: schemeOf(scheme, tensors), ...(gated && gates ? { gates } : {}) };
  }

  /** How the model has to be run so that its tokens carry what this encoding adds to them, and nothing else. */
  #changeTo(encoding: Encoding, own: number, model: number, acts: boolean): TestChange {
    const trained = this.models.race.experiment.encodings[model]!;
    if (!acts) return embeds(this.models.lab, trained.type) ? { position: { type: "none" } } : {};
    if (own === model) return {};
    if (encoding.type === "learned") throw new Refusal("other-model");
    return { position: schemeOf(encoding, {}) };
  }

  #checkRows(own: number, offset: number): void {
    const rows = this.models.tensors(own, 0)["table"]?.shape[0] ?? 0;
    if (offset + this.symbols.length > rows) throw new Refusal("past-table", rows);
  }

  /** Queries and keys that do not move are read once. */
  #kept(model: number, change: TestChange): PanelInputs {
    if (change.shift !== undefined) return { ...this.#read(model, change), position: { type: "none" } };
    const name = `${model} ${JSON.stringify(change)}`;
    let inputs = this.#known.get(name);
    if (!inputs) this.#known.set(name, (inputs = { ...this.#read(model, change), position: { type: "none" } }));
    return inputs;
  }
  #read(model: number, change: TestChange): ReturnType<Run["attentionInputs"]> {
    const { text, layer } = this.look;
    return this.models.run(model).attentionInputs({ layer, change, ...(text === "" ? {} : { text }) });
  }
}
