// SPDX-License-Identifier: MIT
// Races whose trained models can be looked at: the recorded one, and those kept in this browser. Weights and text are
// fetched when one is chosen.

import { corpusText } from "../engine/corpora.js";
import type { CompleteExperiment } from "../engine/poslab.js";
import { recordedId, recordedIndex, recordedWeights, type RecordedEntry } from "../race/recorded.js";
import { ownText } from "../state/fields.js";
import { keptRaces, openKept, type KeptSummary } from "../storage/runs.js";
import type { RaceModels } from "./trained.js";

export interface RaceChoice {
  /** as in links */ id: string;
  kept: boolean;
  date: Date;
  experiment: CompleteExperiment;
  /** @throws when something cannot be fetched or is not there any more */ load: () => Promise<RaceModels>;
}

export async function raceChoices(): Promise<RaceChoice[]> {
  const [recorded, kept] = await Promise.all([recordedIndex().catch(() => []), keptRaces()]);
  return [
    ...recorded.filter((entry) => entry.weightsSeed !== null && entry.weights.length > 0).map(recordedChoice),
    ...kept.map(keptChoice),
  ];
}

function recordedChoice(entry: RecordedEntry): RaceChoice {
  const { experiment, weightsSeed } = entry;
  const id = recordedId(entry);
  const load = async (): Promise<RaceModels> => {
    const [corpus, ...weights] = await Promise.all([
      textOf(experiment, null),
      ...experiment.encodings.map((_, encoding) => recordedWeights(entry, encoding)),
    ]);
    return {
      id,
      experiment,
      corpus,
      weights: weights.map((bytes) => (bytes && weightsSeed !== null ? { seed: weightsSeed, bytes } : null)),
    };
  };
  return { id, kept: false, date: new Date(entry.date), experiment, load };
}

function keptChoice({ id, date, experiment }: KeptSummary): RaceChoice {
  const load = async (): Promise<RaceModels> => {
    const contents = await openKept(id);
    if (!contents) throw new Error(`run ${id}`);
    const weights = await Promise.all(
      experiment.encodings.map(async (_, encoding) => {
        for (const seed of experiment.seeds) {
          const bytes = await contents.weights({ encoding, seed });
          if (bytes) return { seed, bytes };
        }
        return null;
      }),
    );
    return { id, experiment, corpus: await textOf(experiment, contents.text), weights };
  };
  return { id, kept: true, date: new Date(date), experiment, load };
}

async function textOf({ task }: CompleteExperiment, own: Uint8Array | null): Promise<Uint8Array | null> {
  if (task.type !== "text") return null;
  if (task.corpus === undefined || task.corpus === ownText) return own;
  return corpusText(task.corpus);
}
