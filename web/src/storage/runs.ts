// SPDX-License-Identifier: MIT
// Runs kept in the browser (IndexedDB): an index, and per race its results, trained weights and half-finished states as
// entries of their own, so that a save writes only what is new. Storage that is full or forbidden becomes a word, never
// an exception in someone else's code.

import { del, delMany, get, keys, set, update } from "idb-keyval";
import { completeExperiment, type CompleteExperiment, type RunResult } from "../engine/poslab.js";

export interface KeptSummary {
  id: string;
  date: number;
  finished: boolean;
  experiment: CompleteExperiment;
}
export interface KeptRace extends KeptSummary {
  build: { version: string; variant: string };
  runs: RunResult[];
}
export type StorageTrouble = "full" | "forbidden";

const kIndex = "races";
const kMostRaces = 12;
const raceKey = (id: string) => `race:${id}:results`;
const weightsKey = (id: string, run: RunName) => `race:${id}:weights:${run.encoding}:${run.seed}`;
const stateKey = (id: string, run: RunName) => `race:${id}:state:${run.encoding}:${run.seed}`;
const textKey = (id: string) => `race:${id}:text`;

export interface RunName {
  encoding: number;
  seed: number;
}

/** Runs `body`; its failure is returned as a word for the visitor. */
async function attempt(body: () => Promise<void>): Promise<StorageTrouble | null> {
  try {
    await body();
    return null;
  } catch (error) {
    return error instanceof DOMException && error.name === "QuotaExceededError" ? "full" : "forbidden";
  }
}

/** What an older build kept ran with what are the defaults of newer settings now; an experiment that is refused stays. */
function completed<Kept extends KeptSummary>(kept: Kept): Kept {
  try {
    return { ...kept, experiment: completeExperiment(kept.experiment) };
  } catch {
    return kept;
  }
}

/** Newest first; empty where storage is forbidden. */
export async function keptRaces(): Promise<KeptSummary[]> {
  try {
    return ((await get<KeptSummary[]>(kIndex)) ?? []).map(completed);
  } catch {
    return []; // reading is forbidden: writing will be too, and says so
  }
}

export async function keepRace(race: KeptRace): Promise<StorageTrouble | null> {
  return attempt(async () => {
    const { id, date, finished, experiment } = race;
    const dropped: string[] = [];
    await set(raceKey(id), race);
    await update<KeptSummary[]>(kIndex, (index = []) => {
      const next = [{ id, date, finished, experiment }, ...index.filter((entry) => entry.id !== id)].sort(
        (a, b) => b.date - a.date,
      );
      dropped.push(...next.slice(kMostRaces).map((entry) => entry.id));
      return next.slice(0, kMostRaces);
    });
    for (const old of dropped) await removeEntries(old);
  });
}

export const keepWeights = (id: string, run: RunName, weights: Uint8Array) =>
  attempt(async () => {
    await set(weightsKey(id, run), weights);
    await del(stateKey(id, run));
  });

export const keepState = (id: string, run: RunName, state: Uint8Array) => attempt(() => set(stateKey(id, run), state));
export const keepText = (id: string, text: Uint8Array) => attempt(() => set(textKey(id), text));

export interface KeptContents {
  race: KeptRace;
  weights: (run: RunName) => Promise<Uint8Array | null>;
  unfinished: (RunName & { state: Uint8Array })[];
  text: Uint8Array | null;
}

/** null when it is not there any more or cannot be read. */
export async function openKept(id: string): Promise<KeptContents | null> {
  try {
    const found = await get<KeptRace>(raceKey(id));
    if (!found) return null;
    const race = completed(found);
    const { encodings, seeds } = race.experiment;
    const names = encodings.flatMap((_, encoding) => seeds.map((seed) => ({ encoding, seed })));
    const states = await Promise.all(
      names.map(async (run) => ({ ...run, state: await get<Uint8Array>(stateKey(id, run)) })),
    );
    return {
      race,
      weights: async (run) => (await get<Uint8Array>(weightsKey(id, run))) ?? null,
      unfinished: states.filter((entry): entry is RunName & { state: Uint8Array } => entry.state !== undefined),
      text: (await get<Uint8Array>(textKey(id))) ?? null,
    };
  } catch {
    return null;
  }
}

export function removeKept(id: string): Promise<StorageTrouble | null> {
  return attempt(async () => {
    await update<KeptSummary[]>(kIndex, (index = []) => index.filter((entry) => entry.id !== id));
    await removeEntries(id);
  });
}

/** What was trained: a race that is back at its start has no weights and no half-finished states. */
export const removeProgress = (id: string): Promise<StorageTrouble | null> =>
  attempt(() => removeEntries(id, /^(weights|state):/));

async function removeEntries(id: string, which = /^/): Promise<void> {
  const prefix = `race:${id}:`;
  const isOwn = (key: unknown) =>
    typeof key === "string" && key.startsWith(prefix) && which.test(key.slice(prefix.length));
  await delMany((await keys<string>()).filter(isOwn));
}
