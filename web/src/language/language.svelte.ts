// SPDX-License-Identifier: MIT
// The chosen language: what the browser asks for at first, what the visitor chose afterwards. Components read
// `language.words` and format numbers through `language.count`, `.fixed` and so on; all change at once.

import { remember, recall } from "../shell/preferences.js";
import { chinese } from "./chinese.js";
import { sayError, type CoreError } from "./core-errors.js";
import { english, type Dictionary } from "./english.js";
import {
  formatCount,
  formatDate,
  formatDuration,
  formatFixed,
  formatMoment,
  formatSetting,
  formatSignificant,
  type Language,
} from "./format.js";

export const dictionaries: Record<Language, Dictionary> = { en: english, zh: chinese };

function firstLanguage(): Language {
  const chosen = recall("language");
  if (chosen === "en" || chosen === "zh") return chosen;
  return navigator.languages
    .find((tag) => /^(en|zh)\b/i.test(tag))
    ?.toLowerCase()
    .startsWith("zh")
    ? "zh"
    : "en";
}

class ChosenLanguage {
  code = $state<Language>(firstLanguage());
  words = $derived(dictionaries[this.code]);

  choose(code: Language): void {
    this.code = code;
    remember("language", code);
  }
  /** The words that a page brings along for itself. */
  of = <Words>(pair: Record<Language, Words>): Words => pair[this.code];
  /** An error of the package. */
  error = (error: CoreError) => sayError(this.code, error);
  count = (value: number) => formatCount(this.code, value);
  fixed = (value: number, digits = 2) => formatFixed(this.code, value, digits);
  setting = (value: number) => formatSetting(this.code, value);
  significant = (value: number, digits = 4) => formatSignificant(this.code, value, digits);
  date = (value: Date) => formatDate(this.code, value);
  moment = (value: Date) => formatMoment(this.code, value);
  duration = (seconds: number) => formatDuration(this.code, this.words, seconds);
}

export const language = new ChosenLanguage();
