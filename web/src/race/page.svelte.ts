// SPDX-License-Identifier: MIT
// The state of the Race page: what is set, what is shown, what runs. Components read it and call its actions; everything
// that can be computed from something else is derived.

import { corpusList, type CorpusInfo } from "../engine/corpora.js";
import { completeExperiment, type CompleteExperiment, type Experiment } from "../engine/poslab.js";
import { RefusedFields } from "../controls/refused.svelte.js";
import { readError, type CoreError } from "../language/core-errors.js";
import { stable } from "../schemes/fields.js";
import { experimentOf, overridesOf } from "../state/experiment.js";
import { numberRule, ownText, prune, resolve, type Overrides, type Values } from "../state/fields.js";
import { readLink, writeLink, type LinkState, type Notice } from "../state/link.js";
import {
  openKept,
  keptRaces,
  removeKept,
  type KeptContents,
  type KeptSummary,
  type StorageTrouble,
} from "../storage/runs.js";
import { holdRace, isHeldElsewhere, type Release } from "../storage/claims.js";
import { address } from "../shell/address.svelte.js";
import { version } from "../shell/version.js";
import { AfterTraining } from "./after.svelte.js";
import { HiddenTab } from "./hidden-tab.svelte.js";
import { LiveRace, type LiveStart, type Milestone } from "./live.svelte.js";
import { Models, type ModelSource } from "./models.js";
import { factsOf, findProblems } from "./problems.js";
import {
  recordedId,
  recordedIndex,
  recordedResult,
  recordedWeights,
  recordingOf,
  type RecordedEntry,
} from "./recorded.js";
import { kLargestResult, readResult, type ResultProblem } from "./save/result-file.js";
import { readOwnText, type OwnText } from "./setup/own-text.js";
import type { Shown } from "./shown.js";
import { Speed } from "./speed.svelte.js";

/** What a page that is left still writes. */
let leaving: Promise<void> = Promise.resolve();

/** Like crypto.randomUUID, which insecure contexts do not have. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export class RacePage {
  overrides = $state.raw<Overrides>({});
  values: Values = $derived(resolve(this.overrides));
  own = $state.raw<OwnText | null>(null);
  corpora = $state.raw<CorpusInfo[] | null>(null);
  notices = $state.raw<Notice[]>([]);

  live = $state.raw<LiveRace | null>(null);
  #still = $state.raw<Shown | null>(null);
  #stillId = $state<string | null>(null);
  recording = $state.raw<RecordedEntry[] | null>(null);
  recordingFailed = $state(false);
  kept = $state.raw<KeptSummary[]>([]);
  trouble = $state<StorageTrouble | null>(null);
  restored = $state(false);
  /** a kept run that was asked for trains in another tab */ elsewhere = $state(false);
  resultProblem = $state.raw<ResultProblem | { kind: "busy" | "too-large" | "gone" } | null>(null);
  milestone = $state.raw<Milestone | { kind: "cancelled" } | null>(null);
  readonly speed = new Speed();
  readonly hiddenTab = new HiddenTab();

  textFacts = $derived(factsOf(this.values, this.own, this.corpora));
  /** Boxes of the settings that hold what cannot be used. */ readonly refused = new RefusedFields();
  problems = $derived(findProblems(this.values, this.textFacts, this.corpora?.map((entry) => entry.id) ?? null));
  /** The experiment that the button runs, or why there is none. */
  planned: { experiment: CompleteExperiment; refused: null } | { experiment: null; refused: CoreError } = $derived.by(
    () => {
      try {
        return { experiment: completeExperiment(experimentOf(this.values) satisfies Experiment), refused: null };
      } catch (error) {
        return { experiment: null, refused: readError(error) };
      }
    },
  );
  shown: Shown | null = $derived.by(() => {
    if (!this.live) return this.#still;
    const { experiment, build, date, lanes } = this.live;
    return { source: "live", date, build, experiment, runs: lanes.map((lane) => lane.result) };
  });
  /** Under which name the Attention page finds the models of what is drawn; null while there are none. */
  modelsId: string | null = $derived.by(() =>
    !this.live ? this.#stillId : this.live.phase === "finished" ? this.live.id : null,
  );
  /** Whether the settings are those of what is drawn (changes at test time aside, they are measured on it). */
  matches = $derived.by(() => {
    const { experiment } = this.planned;
    if (!experiment || !this.shown) return false;
    const key = (of: CompleteExperiment) =>
      stable({ ...of, atTest: [], seeds: this.shown?.source === "recorded" ? [] : of.seeds });
    return key(experiment) === key(this.shown.experiment);
  });
  after = $state.raw<AfterTraining | null>(null);
  busy = $derived(this.live !== null && ["preparing", "running"].includes(this.live.phase));

  set<K extends keyof Values>(name: K, value: Values[K] | undefined): void {
    this.overrides = prune({ ...this.overrides, [name]: value });
  }
  resetAll(): void {
    this.#replaceAll({});
    this.#named();
  }
  #replaceAll(overrides: Overrides): void {
    this.refused.forgetAll();
    this.overrides = overrides;
  }

  /** Reads the address, then the recording; a race that was cut off comes back paused. */
  async begin(query: string): Promise<void> {
    void corpusList().then((list) => (this.corpora = list));
    const link = readLink(query);
    this.overrides = link.overrides;
    this.notices = link.notices;
    if (link.text !== undefined) await this.setOwn(new TextEncoder().encode(link.text));
    await this.#showRecording();
    // The address follows the settings from here on, also where the storage never answers.
    void this.#bringBack(query, link);
  }
  async #bringBack(query: string, link: LinkState): Promise<void> {
    const { overrides } = this;
    await leaving;
    this.kept = await keptRaces();
    // A reload keeps the address, and finds the race that has it; the address of something else is a wish to see that.
    const settings = (of: Overrides) => stable({ ...of, switches: undefined });
    const wanted =
      query === ""
        ? this.kept.slice(0, 1).find(({ finished }) => !finished)
        : this.kept.find(({ experiment }) => settings(overridesOf(experiment)) === settings(link.overrides));
    if (!wanted || (await isHeldElsewhere(wanted.id))) return;
    const contents = await openKept(wanted.id);
    // The same settings with another own text are something else as well.
    const other = link.text !== undefined && contents?.text && new TextDecoder().decode(contents.text) !== link.text;
    const isTooLate = this.live !== null || this.overrides !== overrides || this.#left;
    if (!contents || other || isTooLate) return;
    await this.#restore(contents, { ...overridesOf(contents.race.experiment), ...link.overrides });
  }

  async #showRecording(): Promise<void> {
    try {
      this.recording ??= await recordedIndex();
      const { experiment } = this.planned;
      const entry = (experiment && recordingOf(this.recording, experiment)) ?? this.recording[0];
      if (entry)
        await this.#show(
          await recordedResult(entry),
          entry.weights.length > 0 ? recordedId(entry) : null,
          (encoding) => recordedWeights(entry, encoding),
          (encoding) => (entry.weights[encoding] === undefined ? null : entry.weightsSeed),
        );
    } catch {
      this.recordingFailed = true;
    }
  }

  /** The settings now are those of another recording: draw that one. */
  async followRecording(): Promise<void> {
    const { experiment } = this.planned;
    if (this.live || !experiment || this.#still?.source !== "recorded" || this.matches) return;
    const entry = recordingOf(this.recording ?? [], experiment);
    if (entry) await this.#showRecording();
  }

  /** `seedOf` is null where there are no weights. */
  async #show(
    shown: Shown,
    id: string | null,
    weights: (encoding: number) => Promise<Uint8Array | null>,
    seedOf: (encoding: number) => number | null,
  ): Promise<void> {
    this.#still = shown;
    this.#stillId = id;
    if (this.live) return; // started meanwhile: what is trained now is what can be looked at
    this.#openAfter({
      experiment: shown.experiment,
      ownText: this.own?.bytes ?? null,
      has: (encoding) => seedOf(encoding) !== null,
      find: async (encoding) => {
        const seed = seedOf(encoding);
        const found = await weights(encoding);
        return found && seed !== null ? { seed, weights: found } : null;
      },
    });
  }
  #openAfter(source: ModelSource): void {
    this.after?.close();
    this.after = new AfterTraining(new Models(source));
  }

  #ownGiven = 0;
  async setOwn(bytes: Uint8Array): Promise<void> {
    const given = (this.#ownGiven += 1);
    const own = await readOwnText(bytes);
    // A long text that is still being counted does not overtake the next one.
    if (given !== this.#ownGiven) return;
    this.own = own;
    this.set("corpus", ownText);
    if (!this.own.characters) this.set("unit", "bytes");
  }

  // ------------------------------------------------------------------------------------------------ running

  async run(): Promise<void> {
    if (await this.#startPlanned()) await this.live?.play();
  }
  /** Opens the planned race, which waits to be played; false where there is none. */
  async #startPlanned(): Promise<boolean> {
    const { experiment } = this.planned;
    if (!experiment || this.problems.length || this.refused.any || this.live?.phase === "preparing") return false;
    this.#named();
    await this.#start({ id: newId(), experiment, ownText: this.#ownBytes(experiment) });
    return true;
  }
  /** What is set now is worth an entry of the browser's history. */
  #named = (): void => address.named("race", this.link().query);
  #ownBytes = ({ task }: CompleteExperiment) =>
    task.type === "text" && task.corpus === ownText ? (this.own?.bytes ?? null) : null;

  async #start(start: LiveStart, weights?: KeptContents["weights"]): Promise<void> {
    if (this.#left) return;
    void this.#endLive();
    this.restored = this.elsewhere = false;
    this.resultProblem = null;
    this.#release = holdRace(start.id);
    const live = new LiveRace(start, {
      milestone: (milestone) => this.#onMilestone(milestone),
      trouble: (trouble) => (this.trouble = trouble),
      kept: () => void keptRaces().then((list) => (this.kept = list)),
    });
    this.live = live;
    this.#openAfter({
      experiment: start.experiment,
      ownText: start.ownText,
      has: (encoding) => live.lanes.some((own) => own.encoding === encoding && own.phase === "done"),
      find: async (encoding) => {
        for (const lane of live.lanes.filter((own) => own.encoding === encoding && own.phase === "done")) {
          const controller = live.controllerOf(lane);
          if (controller) return { seed: lane.seed, controller };
          const found = live.weightsOf(lane) ?? (await weights?.(lane));
          if (found) return { seed: lane.seed, weights: found };
        }
        return null;
      },
    });
    await live.open(version);
  }

  #release: Release = () => Promise.resolve();
  /** The race is over at once; what is being stored of it is stored when the promise is. */
  #endLive(): Promise<void> {
    const ended = this.live?.end() ?? Promise.resolve();
    this.live = null;
    void this.#release();
    return ended;
  }

  #onMilestone(milestone: Milestone): void {
    this.milestone = milestone;
    if (milestone.kind === "done" && this.live && this.textOrToy) {
      for (const lane of this.live.lanes) this.speed.learn(this.live.experiment, lane.result, this.vocabulary);
    }
  }
  vocabulary = $derived((this.values.task === "text" ? (this.textFacts?.distinct ?? 84) : 24) + 1);
  private get textOrToy(): boolean {
    return this.values.task !== "text" || this.textFacts !== null;
  }

  async playPause(): Promise<void> {
    this.restored = false;
    if (!this.live || this.live.phase === "finished" || this.live.phase === "failed") await this.run();
    else if (this.live.phase === "running") await this.live.pause();
    else await this.live.play();
  }
  async step(): Promise<void> {
    this.restored = false;
    if (!this.live) await this.#startPlanned();
    await this.live?.step();
  }
  async rewind(): Promise<void> {
    this.after?.forget();
    await this.live?.rewind();
  }
  async newSeed(): Promise<void> {
    if (this.live?.phase === "preparing") return;
    const running = this.live?.phase === "running";
    const next = this.values.firstSeed + this.values.seeds;
    this.set("firstSeed", next > numberRule("firstSeed").maximum ? undefined : next); // past the last seed: from the first one on
    if (!this.live) return this.#named();
    if ((await this.#startPlanned()) && running) await this.live?.play();
  }
  /** Ends the race and forgets it; what was drawn before comes back. */
  async cancel(): Promise<void> {
    const { live } = this;
    if (!live) return;
    const ended = this.#endLive();
    this.milestone = { kind: "cancelled" };
    // A save that is under way would put it back into the list.
    await ended;
    await removeKept(live.id);
    this.kept = await keptRaces();
    await this.#showRecording();
  }
  async lowerRate(rate: number): Promise<void> {
    this.set("learningRate", rate);
    await this.run();
  }

  // ------------------------------------------------------------------------------------------------ kept and shared

  async openKept(id: string): Promise<void> {
    if (this.live?.id !== id && (await isHeldElsewhere(id))) {
      this.elsewhere = true;
      return;
    }
    this.elsewhere = false;
    const contents = await openKept(id);
    this.resultProblem = contents ? null : { kind: "gone" };
    if (contents) await this.#restore(contents, overridesOf(contents.race.experiment), this.#named);
  }
  /** What an address brings back by itself is not `named`: as an entry of the history it would catch every Back. */
  async #restore(
    { race, unfinished, text, weights }: KeptContents,
    overrides: Overrides,
    named: () => void = () => {},
  ): Promise<void> {
    const { id } = race;
    if (text) this.own = await readOwnText(text);
    this.#replaceAll(overrides);
    named();
    if (race.finished) {
      void this.#endLive();
      const shown: Shown = {
        source: "kept",
        date: race.date,
        build: race.build,
        experiment: race.experiment,
        runs: race.runs,
      };
      const seedOf = (encoding: number) => race.runs.find((run) => run.encoding === encoding)?.seed ?? null;
      const weightsOf = async (encoding: number) => {
        const seed = seedOf(encoding);
        return seed === null ? null : weights({ encoding, seed });
      };
      await this.#show(shown, id, weightsOf, seedOf);
      return;
    }
    await this.#start({ id, experiment: race.experiment, ownText: text, finished: race.runs, unfinished }, weights);
    this.restored = true;
  }
  /** A result out of a file, without weights; what is wrong with it is said. */
  async openResult(file: File): Promise<void> {
    this.resultProblem = null;
    if (this.busy) this.resultProblem = { kind: "busy" };
    else if (file.size > kLargestResult) this.resultProblem = { kind: "too-large" };
    if (this.resultProblem) return;
    const read = readResult(await file.text(), file.lastModified);
    if ("problem" in read) {
      this.resultProblem = read.problem;
      return;
    }
    void this.#endLive();
    this.#replaceAll(overridesOf(read.shown.experiment));
    this.#named();
    const none = () => null;
    await this.#show(read.shown, null, () => Promise.resolve(null), none);
  }
  /** a race that is still being opened must not start in a page that is gone */ #left = false;
  /** Leaving the page keeps what has been trained so far; the next visit waits for that. */
  leave(): void {
    this.#left = true;
    const { live } = this;
    this.after?.close();
    const release = this.#release;
    const end = () => {
      void live?.end();
      return release();
    };
    leaving = live ? live.keep().then(end, end) : leaving;
  }
  /** What is drawn goes with it: its weights are gone. */
  async removeKept(id: string): Promise<void> {
    this.trouble = (await removeKept(id)) ?? this.trouble;
    this.kept = await keptRaces();
    if (this.#stillId === id && !this.live) await this.#showRecording();
  }

  /** The address of these settings. */
  link(): { query: string; notices: Notice[] } {
    const text = this.own?.characters ? new TextDecoder().decode(this.own.bytes) : undefined;
    return writeLink({ overrides: this.overrides, ...(text === undefined ? {} : { text }) });
  }
}
