// SPDX-License-Identifier: MIT
// The state of the Attention page: what is set, and what follows from it. The drawing follows `wanted`.

import { corpusText } from "../engine/corpora.js";
import type { Encoding } from "../engine/poslab.js";
import { language } from "../language/language.svelte.js";
import { stable } from "../schemes/fields.js";
import { isSchemeType } from "../schemes/looks.js";
import { address } from "../shell/address.svelte.js";
import type { Notice } from "../state/link.js";
import { Drawing } from "./drawing.svelte.js";
import type { Wanted } from "./jobs.js";
import { raceChoices, type RaceChoice } from "./races.js";
import { readSettings, settingsDefaults, settingsTable, writeSettings, type Settings } from "./settings.js";
import { firstCharacters, kMostTokens, tokenise } from "./tokens.js";
import { pageWords } from "./words.js";
import type { SceneRequest } from "./worker.js";

/** Cells of a picture's side: one head's, and those of each when all are shown. */
const kSide = 512;
const kSmallSide = 192;

const isDefault = (encodings: unknown) => stable(encodings) === stable(settingsTable.encodings.fallback);

export class AttentionPage {
  values = $state.raw<Settings>(settingsDefaults());
  notices = $state.raw<Notice[]>([]);
  /** null until they are known */ races = $state.raw<RaceChoice[] | null>(null);
  readonly drawing = new Drawing((id) => this.#loadRace(id));

  race = $derived.by((): RaceChoice | null => this.races?.find(({ id }) => id === this.values.from) ?? null);
  /** A race that is not known yet may still turn up. */
  waits = $derived(this.values.from !== "random" && this.races === null);
  encodings = $derived.by((): readonly Encoding[] =>
    this.race && isDefault(this.values.encodings)
      ? this.race.experiment.encodings
      : (this.values.encodings as unknown as Encoding[]),
  );
  /** Index of the one model that is shown, or null: each encoding with its own. */
  model = $derived.by((): number | null => {
    const { model } = this.values;
    return this.race && model >= 0 && model < this.race.experiment.encodings.length ? model : null;
  });
  layer = $derived(Math.min(this.values.layer, (this.race?.experiment.model.layers ?? 1) - 1));
  headCount = $derived(this.race?.experiment.model.heads ?? Number(this.values.heads));
  head = $derived(this.values.head < 0 ? null : Math.min(this.values.head, this.headCount - 1));
  shownHeads = $derived(this.head === null ? Array.from({ length: this.headCount }, (_, n) => n) : [this.head]);
  /** an empty box is empty, and not the sample, once somebody has emptied it */ emptied = $state(false);
  text = $derived(
    this.values.text === "" && !this.race && !this.emptied ? language.of(pageWords).sample : this.values.text,
  );
  // On its own, so that the text is not taken apart anew whenever anything else is set.
  #unit = $derived(this.values.unit);
  given = $derived(
    this.race ? { ...firstCharacters(this.text), tokens: [] } : { ...tokenise(this.text, this.#unit), text: "" },
  );
  #seed = $derived(this.values.seed);
  symbols = $derived(this.drawing.facts?.symbols ?? []);
  window = $derived(this.values.causal && this.values.window > 0 ? this.values.window : null);

  scene = $derived.by((): SceneRequest =>
    this.race
      ? {
          kind: "trained",
          race: this.race.id,
          look: { model: this.model, layer: this.layer, text: this.given.text },
        }
      : { kind: "random", symbols: this.given.tokens, seed: this.#seed, heads: this.headCount },
  );
  wanted = $derived.by((): Wanted => {
    const { causal, offset, show, query } = this.values;
    return {
      scene: this.scene,
      encodings: this.encodings,
      sight: { causal, window: this.window },
      request: {
        offset,
        heads: this.shownHeads,
        show: show as "weights" | "scores",
        side: this.head === null ? kSmallSide : kSide,
      },
      query: query < 0 ? null : query,
    };
  });
  link = $derived(writeSettings(this.values));

  begin(query: string): void {
    const { values, notices } = readSettings(query);
    const known = values.encodings.filter(({ type }) => isSchemeType(type));
    if (known.length < values.encodings.length) notices.push({ kind: "bad-value", key: settingsTable.encodings.key });
    this.values = { ...values, encodings: known.length ? known : settingsDefaults().encodings };
    this.notices = notices;
    void this.findRaces();
  }
  async findRaces(): Promise<void> {
    this.races = await raceChoices();
    if (this.values.from !== "random" && !this.race) {
      this.notices = [...this.notices, { kind: "bad-value", key: settingsTable.from.key }];
      this.set({ from: "random" });
    }
  }
  async #loadRace(id: string): ReturnType<RaceChoice["load"]> {
    const race = this.races?.find((choice) => choice.id === id);
    if (!race) throw new Error(`no race "${id}"`);
    return race.load();
  }

  set(change: Partial<Settings>): void {
    this.values = { ...this.values, ...change };
  }
  /** Another source starts with its own text, encodings and heads. */
  setSource(from: string): void {
    const { encodings, text, head, layer, model, query, key } = settingsDefaults();
    this.set({ from, encodings, text, head, layer, model, query, key });
    address.named("attention", this.link);
  }
  setText(text: string, emptied = text === ""): void {
    this.emptied = emptied;
    this.set({ text, query: -1, key: -1 });
  }
  point(query: number, key: number): void {
    if (query !== this.values.query || key !== this.values.key) this.set({ query, key });
  }
  /** As much of a text of this site as can be drawn. */
  async longText(): Promise<void> {
    const id = language.code === "zh" ? "tang-song" : "moby-dick";
    const text = new TextDecoder().decode((await corpusText(id)).subarray(0, 40_000));
    const unit = this.race ? "characters" : this.values.unit;
    const { tokens } = tokenise(text, unit, kMostTokens);
    const last = unit === "characters" ? tokens.join("").length : endOf(text, tokens);
    this.setText(text.slice(0, Math.min(last, settingsTable.text.longest)));
  }
}

/** Where the last of these words ends in the text. */
function endOf(text: string, words: readonly string[]): number {
  let at = 0;
  for (const word of words) at = text.indexOf(word, at) + word.length;
  return at;
}
