// SPDX-License-Identifier: MIT
// `poslab extrapolate`: reads an experiment, runs it in workers, and writes what came out. Interrupted, it keeps what is done.

import { dirname, join } from "node:path";
import { completeExperiment, encodingLabel } from "../js/experiment.js";
import { loadPosLab } from "../js/index.js";
import { assembleResult } from "../js/experiment-run.js";
import { runExperiment } from "../js/run.js";
import type {
  CompleteExperiment,
  Experiment,
  ExperimentResult,
  ExperimentState,
  Info,
  RunProgress,
  RunResult,
} from "../js/types.js";
import { corpusFromOption, corpusOf, folderOf, type CorpusText } from "./corpora.js";
import {
  changingOptions,
  experimentProblem,
  type ExperimentOptionValues,
  overrideExperiment,
} from "./experiment-options.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { checkWritable, exists, isFile, makeFolder, readJson, writeWhole } from "./files.js";
import { listenForInterruption } from "./interruption.js";
import { createReporter, type ProgressReporter } from "./progress.js";
import { readInterrupted, type Resumed } from "./resume.js";
import { resultCsv } from "./result-csv.js";
import { resultSvg } from "./result-svg.js";
import { resultTable } from "./result-table.js";
import { type CorpusMark, corpusPath, markCorpus, saveState, statePath } from "./state-file.js";
import { weightFileNames } from "./weight-files.js";

export interface ExtrapolateOptions extends ExperimentOptionValues {
  workers?: number;
  resume?: string;
  out?: string;
  csv?: string;
  svg?: string;
  save?: string;
  json?: boolean;
  quiet?: boolean;
}

interface Plan {
  experiment: CompleteExperiment;
  corpus: CorpusText | null;
  resumed: Resumed | null;
  notices: string[];
}

export async function extrapolate(file: string | undefined, options: ExtrapolateOptions): Promise<number> {
  const plan = options.resume === undefined ? planNew(file, options) : planResumed(file, options.resume, options);
  for (const name of ["out", "csv", "svg"] as const)
    if (options[name] !== undefined) checkWritable(options[name], `--${name}`);
  if (options.save !== undefined) makeFolder(options.save, "--save");
  const label = (progress: RunProgress): string => {
    const name = encodingLabel(plan.experiment.encodings[progress.encoding]!);
    return plan.experiment.seeds.length > 1 ? `${name}, seed ${progress.seed}` : name;
  };
  const reporter = createReporter(label, options.quiet ?? false);
  for (const notice of plan.notices) reporter.notice(notice);
  return run(plan, options, reporter);
}

function planNew(file: string | undefined, options: ExtrapolateOptions): Plan {
  const base = file === undefined ? {} : readJson(file);
  try {
    // Something that is no object at all is refused in the package's words, before options are laid over it.
    if (typeof base !== "object" || base === null || Array.isArray(base)) completeExperiment(base ?? "null");
    const given = options.corpus === undefined ? null : corpusFromOption(options.corpus);
    const { experiment: overridden, notices } = overrideExperiment(
      base as Experiment,
      given ? { ...options, corpus: given.name } : options,
    );
    const experiment = completeExperiment(overridden);
    return { experiment, corpus: given ?? corpusOf(experiment, folderOf(file)), resumed: null, notices };
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(experimentProblem(error, options)) : error;
  }
}

function planResumed(file: string | undefined, resume: string, options: ExtrapolateOptions): Plan {
  if (file !== undefined)
    throw new Refusal(`option '--resume': the experiment comes from ${resume}; ${file} cannot be given too`);
  const changing = changingOptions(options).filter((name) => name !== "--corpus");
  if (changing.length > 0)
    throw new Refusal(
      `option '--resume': the experiment comes from ${resume}; ${changing.join(", ")} cannot change it`,
    );
  const resumed = readInterrupted(resume);
  const { experiment, state } = resumed;
  const notices: string[] = [];
  const all = experiment.encodings.length * experiment.seeds.length;
  const fresh = all - state.runs.length - state.unfinished.length;
  notices.push(
    `resuming ${resume}: ${state.runs.length} of ${all} runs are done, ${state.unfinished.length} half-finished, ${fresh} not begun`,
  );
  if (fresh > 0 && !isFile(statePath(resume)))
    notices.push(`${statePath(resume)} is not there: runs that were half-finished begin anew`);
  return { experiment, corpus: resumedCorpus(resumed, resume, options, state.runs.length === all), resumed, notices };
}

/**
 * The same text as before, or none at all: with another one the numbers would mean nothing. Finished experiments need none (it
 * only adds lines to the chart).
 */
function resumedCorpus(
  { experiment, corpus: mark }: Resumed,
  resume: string,
  options: ExtrapolateOptions,
  isFinished: boolean,
): CorpusText | null {
  const { task } = experiment;
  const remembered = mark ? corpusPath(mark, resume) : null;
  let found: CorpusText | null;
  try {
    if (options.corpus !== undefined) found = corpusFromOption(options.corpus);
    else
      found =
        remembered !== null && isFile(remembered)
          ? corpusFromOption(remembered)
          : corpusOf(experiment, dirname(resume));
  } catch (error) {
    if (isFinished && options.corpus === undefined) return null;
    throw error;
  }
  if (found === null || task.type !== "text" || task.corpus === undefined) return null;
  if (mark && markCorpus(found.bytes, undefined, resume).sha256 !== mark.sha256) {
    throw new Refusal(
      `option '--resume': the text "${task.corpus}" is not the one that was trained on; --corpus FILE gives that one`,
    );
  }
  return { ...found, name: task.corpus };
}

async function run(plan: Plan, options: ExtrapolateOptions, reporter: ProgressReporter): Promise<number> {
  const { experiment, corpus, resumed } = plan;
  const names = weightFileNames(experiment);
  const { version, variant } = (await loadPosLab()).info;
  const build = { version, variant };
  if (resumed && (resumed.build.version !== version || resumed.build.variant !== variant)) {
    reporter.notice(
      `begun with build ${resumed.build.version} ${resumed.build.variant}, resumed with ${version} ${variant}: the numbers may differ from those of one build`,
    );
  }
  const finished: RunResult[] = [...(resumed?.state.runs ?? [])];
  const interruption = listenForInterruption(
    () => reporter.notice("Stopping; what is done will be kept. (Once more: stop at once.)"),
    () => reporter.stop(), // gives the terminal its cursor back
  );
  let writeProblem: unknown;
  const keep = (result: RunResult, weights: Uint8Array): void => {
    try {
      // Whatever happens to this process later, a finished run is kept.
      if (!result.stopped) finished.push(result);
      const out = options.out ?? options.resume;
      if (out !== undefined) writeWhole(out, toJson(partialResult(experiment, build, finished)));
      if (options.save !== undefined && weights.length > 0) writeWhole(join(options.save, names(result)), weights);
    } catch (error) {
      // Out of disk space, say: the runs are kept like after Ctrl-C.
      writeProblem = error;
      interruption.abort(error);
    }
  };
  try {
    const result = await runExperiment(experiment, {
      signal: interruption.signal,
      onProgress: (progress) => reporter.update(progress),
      onRun: keep,
      ...(options.workers === undefined ? {} : { workers: options.workers }),
      ...(corpus ? { corpora: { [corpus.name]: corpus.bytes } } : {}),
      ...(resumed ? { resume: resumed.state } : {}),
    });
    reporter.stop();
    return await finish(plan, result, options);
  } catch (error) {
    reporter.stop();
    const state = (error as { state?: ExperimentState }).state;
    if (!interruption.signal.aborted || !state)
      throw isPosLabError(error) ? new Refusal(experimentProblem(error, options)) : error;
    const message = keepInterrupted(plan, state, build, options);
    if (writeProblem !== undefined) throw new Refusal(`${(writeProblem as Error).message}. ${message}`);
    process.stderr.write(`${message}\n`);
    return exitStatus.interrupted;
  } finally {
    interruption.stopListening();
  }
}

/** Writes the finished runs and the state of the others; returns what to say about it. */
function keepInterrupted(
  plan: Plan,
  state: ExperimentState,
  build: ExperimentResult["build"],
  options: ExtrapolateOptions,
): string {
  const { experiment, corpus } = plan;
  const all = experiment.encodings.length * experiment.seeds.length;
  if (state.runs.length === 0 && state.unfinished.length === 0) return "Interrupted before anything was done.";
  const path = options.out ?? options.resume ?? freeName("poslab-interrupted");
  const mark: CorpusMark | null = corpus ? markCorpus(corpus.bytes, corpus.file, path) : (plan.resumed?.corpus ?? null);
  writeWhole(path, toJson(partialResult(experiment, plan.resumed?.build ?? build, state.runs)));
  const stateFile = saveState(path, state.unfinished, mark);
  return [
    `Interrupted; ${state.runs.length} of ${all} runs are done and ${state.unfinished.length} half-finished, kept in ${path}${stateFile ? ` and ${stateFile}` : ""}.`,
    `To go on: ${resumeCommand(path, options)}`,
  ].join("\n");
}

/** The result of an experiment that is not over. */
function partialResult(
  experiment: CompleteExperiment,
  build: ExperimentResult["build"],
  runs: RunResult[],
): ExperimentResult {
  const all = experiment.encodings.length * experiment.seeds.length;
  return {
    ...assembleResult(experiment, build as Pick<Info, "version" | "variant">, runs),
    verdict: `Interrupted: ${runs.length} of ${all} runs are done.`,
  };
}

function toJson(result: ExperimentResult): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}

function resumeCommand(path: string, options: ExtrapolateOptions): string {
  const words = ["poslab", "extrapolate", "--resume", path];
  for (const name of ["csv", "svg", "save", "workers"] as const)
    if (options[name] !== undefined) words.push(`--${name}`, String(options[name]));
  if (options.json) words.push("--json");
  return words.map((word) => (/^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** NAME.json, or NAME-2.json and so on when there is one already. */
function freeName(name: string): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${name}.json` : `${name}-${number}.json`;
    if (!exists(path)) return path;
  }
}

function corpusText({ experiment: { task }, corpus }: Plan): Uint8Array | string | null {
  return corpus?.bytes ?? (task.type === "text" ? (task.text ?? null) : null);
}

async function finish(plan: Plan, result: ExperimentResult, options: ExtrapolateOptions): Promise<number> {
  const out = options.out ?? options.resume;
  if (out !== undefined) writeWhole(out, toJson(result));
  if (options.resume !== undefined) saveState(options.resume, [], null);
  if (out !== undefined) saveState(out, [], null);
  if (options.csv !== undefined) writeWhole(options.csv, resultCsv(result));
  if (options.svg !== undefined) writeWhole(options.svg, await resultSvg(result, corpusText(plan)));
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else process.stdout.write(`${resultTable(result, process.stdout.columns ?? Infinity)}\n\n${result.verdict}\n`);
  return result.runs.some(({ stopped }) => stopped) ? exitStatus.failed : exitStatus.done;
}
