// SPDX-License-Identifier: MIT
// Runs all of an experiment in this thread, one run after the other, and puts the result together. runExperiment of
// run.ts does the same over workers; what both share is here.

import { PosLabError, wrongArgument } from "./errors.js";
import { completeExperiment } from "./experiment.js";
import { ExperimentInterrupted } from "./interrupted.js";
import type { LabCorpus } from "./lab-corpus.js";
import { importNode, isNode } from "./node-import.js";
import type { PosLab } from "./poslab.js";
import { LocalRun } from "./run-controller.js";
import type { RunEvent } from "./run-types.js";
import { checkCallback, checkOptions, checkSignal } from "./tensors.js";
import type {
  CompleteExperiment,
  ExperimentOptions,
  ExperimentResult,
  ExperimentState,
  Info,
  RunResult,
} from "./types.js";
import { computeVerdict, verdictSentence } from "./verdict.js";

export interface RunKey {
  encoding: number;
  seed: number;
}

/** Runs in the order of a result: encodings, and seeds within each. */
export function runKeys(experiment: CompleteExperiment): RunKey[] {
  return experiment.encodings.flatMap((_, encoding) => experiment.seeds.map((seed) => ({ encoding, seed })));
}

export function assembleResult(
  experiment: CompleteExperiment,
  build: Pick<Info, "version" | "variant">,
  runs: readonly RunResult[],
): ExperimentResult {
  const order = runKeys(experiment);
  const place = ({ encoding, seed }: RunKey): number =>
    order.findIndex((key) => key.encoding === encoding && key.seed === seed);
  const sorted = [...runs].sort((a, b) => place(a) - place(b));
  return {
    experiment,
    build: { version: build.version, variant: build.variant },
    runs: sorted,
    verdict: verdictSentence(computeVerdict(experiment, sorted)),
  };
}

/**
 * The text that an experiment trains on: its own, or a named corpus that the caller (or the package, under Node) has.
 * Null for toy tasks.
 */
export async function textOf(
  experiment: CompleteExperiment,
  corpora: Record<string, Uint8Array | string> = {},
): Promise<Uint8Array | string | null> {
  const { task } = experiment;
  if (task.type !== "text") return null;
  if (task.text !== undefined) return task.text;
  const name = task.corpus ?? "";
  if (Object.hasOwn(corpora, name)) {
    const text: unknown = corpora[name];
    if (typeof text === "string" || text instanceof Uint8Array) return text;
    throw wrongArgument("type", `corpora.${name}`, text, "a text or its UTF-8 bytes");
  }
  const packaged = await packagedCorpus(name);
  if (packaged) return packaged;
  throw new PosLabError(
    "missing",
    `task.corpus: the text "${name}" is not here; give its UTF-8 bytes as options.corpora, or the text itself as task.text`,
    {
      argument: "task.corpus",
      given: name,
    },
  );
}

/** Node: a text that the package brings along. */
async function packagedCorpus(name: string): Promise<Uint8Array | null> {
  if (!isNode || !import.meta.url.startsWith("file:")) return null;
  const { readFile } = await importNode("fs/promises");
  // In the package beside dist/js; in a working tree where the page has them.
  for (const folder of ["../corpora/", "../../web/public/corpora/"]) {
    try {
      const list = JSON.parse(await readFile(new URL(`${folder}corpora.json`, import.meta.url), "utf8")) as {
        id: string;
        file: string;
      }[];
      const entry = list.find(({ id }) => id === name);
      if (entry) return await readFile(new URL(folder + entry.file, import.meta.url));
    } catch {
      // not there: the next folder, and in the end a message that says what to give
    }
  }
  return null;
}

/** Checks what `resume` brings against the experiment; half-finished runs by their key. */
export function readResume(
  experiment: CompleteExperiment,
  resume: ExperimentState | undefined,
): { finished: RunResult[]; states: Map<string, Uint8Array> } {
  const { runs, unfinished } = (resume as Partial<ExperimentState> | null) ?? {};
  if (resume !== undefined && (!Array.isArray(runs) || !Array.isArray(unfinished)))
    throw wrongArgument("type", "resume", resume, "what an interrupted call left: { runs, unfinished }");
  const known = new Set(runKeys(experiment).map(keyText));
  const finished = resume?.runs ?? [];
  for (const key of [...finished, ...(resume?.unfinished ?? [])]) {
    if (!known.has(keyText(key))) {
      throw wrongArgument(
        "contradiction",
        "resume",
        `encoding ${key.encoding}, seed ${key.seed}`,
        "only what this experiment has: the state belongs to another one, so this",
      );
    }
  }
  return { finished, states: new Map((resume?.unfinished ?? []).map((entry) => [keyText(entry), entry.state])) };
}

export const keyText = ({ encoding, seed }: RunKey): string => `${encoding}:${seed}`;

export async function runInThread(lab: PosLab, json: unknown, options: ExperimentOptions): Promise<ExperimentResult> {
  checkOptions(options, ["signal", "onProgress", "onRun", "corpora", "resume"]);
  const { signal, onProgress, onRun } = options;
  checkSignal(signal);
  checkCallback(onProgress, "onProgress");
  checkCallback(onRun, "onRun");
  let experiment = completeExperiment(json);
  const text = await textOf(experiment, options.corpora);
  const corpus =
    text === null ? null : lab.corpus(text, experiment.task.type === "text" ? experiment.task.unit : "characters");
  try {
    experiment = lab.checkExperiment(experiment, corpus);
    const { finished, states } = readResume(experiment, options.resume);
    const runs = [...finished];
    const done = new Set(finished.map(keyText));
    for (const key of runKeys(experiment)) {
      const name = keyText(key);
      if (done.has(name)) continue;
      const outcome = await runOne(lab, experiment, key, corpus, options, states.get(name));
      if ("interrupted" in outcome) {
        if (outcome.interrupted) states.set(name, outcome.interrupted);
        const unfinished = runKeys(experiment).flatMap((other) => {
          const state = states.get(keyText(other));
          return state && !runs.some((run) => keyText(run) === keyText(other)) ? [{ ...other, state }] : [];
        });
        throw new ExperimentInterrupted({ runs, unfinished }, signal?.reason);
      }
      runs.push(outcome.result);
      onRun?.(outcome.result, outcome.weights);
    }
    return assembleResult(experiment, lab.info, runs);
  } finally {
    corpus?.dispose();
  }
}

type Outcome = { result: RunResult; weights: Uint8Array } | { interrupted: Uint8Array | null };

async function runOne(
  lab: PosLab,
  experiment: CompleteExperiment,
  key: RunKey,
  corpus: LabCorpus | null,
  options: ExperimentOptions,
  state?: Uint8Array,
): Promise<Outcome> {
  const { signal, onProgress } = options;
  if (signal?.aborted) return { interrupted: state ?? null };
  let settle: (outcome: "done" | "failed" | "aborted") => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const settled = new Promise<"done" | "failed" | "aborted">((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const onEvent = (event: RunEvent): void => {
    try {
      if (event.type === "progress") onProgress?.(event.progress);
    } catch (error) {
      fail(error); // the caller's own: it ends the call, as an error of onRun does
    }
    if (event.type === "done" || event.type === "failed") settle(event.type);
  };
  const run = new LocalRun(lab, { experiment, ...key, ...(state ? { state } : {}) }, corpus, onEvent);
  const abort = (): void => settle("aborted");
  signal?.addEventListener("abort", abort);
  try {
    await run.start();
    const end = await settled;
    if (end === "aborted") {
      await run.pause();
      return { interrupted: await run.snapshot() };
    }
    // A run that diverged ends here too: its result says at which step, its weights are the last good ones.
    return { result: await run.result(), weights: await run.weights() };
  } finally {
    signal?.removeEventListener("abort", abort);
    await run.dispose();
  }
}
