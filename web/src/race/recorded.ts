// SPDX-License-Identifier: MIT
// Recorded runs: made by `npm run record`, listed in recorded/index.json. Results come with the page, weights when needed.

import { completeExperiment, type CompleteExperiment, type ExperimentResult } from "../engine/poslab.js";
import { stable } from "../schemes/fields.js";
import type { Shown } from "./shown.js";

export interface RecordedEntry {
  file: string;
  /** ISO date */ date: string;
  experiment: CompleteExperiment;
  /** seed that the weights are of */ weightsSeed: number | null;
  /** one file an encoding, in order */ weights: string[];
}

/** The name of a recorded race in links: its task. */
export const recordedId = ({ experiment: { task } }: Pick<RecordedEntry, "experiment">): string =>
  task.type === "text" ? `text-${task.corpus ?? "own"}` : task.type;

const at = (file: string) => new URL(`./recorded/${file}`, document.baseURI);

export async function recordedIndex(): Promise<RecordedEntry[]> {
  const reply = await fetch(at("index.json"));
  if (!reply.ok) throw new Error(`recorded/index.json: ${reply.status}`);
  return completed((await reply.json()) as RecordedEntry[]);
}

/** A recording is older than the settings that came after it: it ran with what are their defaults now. */
export const completed = (index: readonly RecordedEntry[]): RecordedEntry[] =>
  index.map((entry) => ({ ...entry, experiment: completeExperiment(entry.experiment) }));

export async function recordedResult(entry: RecordedEntry): Promise<Shown> {
  const reply = await fetch(at(entry.file));
  if (!reply.ok) throw new Error(`${entry.file}: ${reply.status}`);
  const result = (await reply.json()) as ExperimentResult;
  return {
    source: "recorded",
    date: Date.parse(entry.date),
    build: result.build,
    experiment: entry.experiment,
    runs: result.runs,
  };
}

export async function recordedWeights(entry: RecordedEntry, encoding: number): Promise<Uint8Array | null> {
  const file = entry.weights[encoding];
  if (!file) return null;
  const reply = await fetch(at(file));
  if (!reply.ok) throw new Error(`${file}: ${reply.status}`);
  return new Uint8Array(await reply.arrayBuffer());
}

/** The recording of the same experiment; seeds and changes at test time may differ. */
export function recordingOf(
  index: readonly RecordedEntry[],
  experiment: CompleteExperiment,
): RecordedEntry | undefined {
  const key = (of: CompleteExperiment) => stable({ ...of, seeds: [], atTest: [] });
  const wanted = key(experiment);
  return index.find((entry) => key(entry.experiment) === wanted);
}
