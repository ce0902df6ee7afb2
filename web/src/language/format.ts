// SPDX-License-Identifier: MIT
// Numbers, dates and durations as the chosen language writes them; one place, so that a number reads the same everywhere.

import type { Dictionary } from "./english.js";

export type Language = "en" | "zh";
export const locales: Record<Language, string> = { en: "en-GB", zh: "zh-CN" };

const formats = new Map<string, Intl.NumberFormat>();

function numberFormat(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = language + JSON.stringify(options);
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.NumberFormat(locales[language], options)));
  return format;
}

export const formatCount = (language: Language, value: number): string =>
  numberFormat(language, { maximumFractionDigits: 0 }).format(value);

export function formatFixed(language: Language, value: number, digits: number): string {
  return numberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** A setting as typed: no grouping, no rounding that would hide a digit that matters. */
export const formatSetting = (language: Language, value: number): string =>
  numberFormat(language, { maximumSignificantDigits: 6, useGrouping: false }).format(value);

const kSmallestPlain = 1e-4;

/** A computed number: significant digits, powers of ten where plain digits would be zeros ("1.5 × 10⁻⁷"). */
export function formatSignificant(language: Language, value: number, digits = 4): string {
  if (!Number.isFinite(value)) return value === Infinity ? "∞" : value === -Infinity ? "−∞" : "–";
  const size = Math.abs(value);
  if (size === 0 || (size >= kSmallestPlain && size < 1e9)) {
    const text = numberFormat(language, { maximumSignificantDigits: digits }).format(value === 0 ? 0 : value);
    return text.replace("-", "−");
  }
  const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e") as [string, string];
  return `${mantissa.replace("-", "−")} × 10${superscript(Number(exponent))}`;
}

const superscript = (value: number) =>
  String(value).replace(/[-0-9]/g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)]!));

export function formatDate(language: Language, date: Date): string {
  return new Intl.DateTimeFormat(locales[language], { dateStyle: "long" }).format(date);
}

export function formatMoment(language: Language, date: Date): string {
  return new Intl.DateTimeFormat(locales[language], { dateStyle: "medium", timeStyle: "short" }).format(date);
}

/** A duration in the one unit that suits it: "40 s", "3 min", "1.5 h". */
export function formatDuration(language: Language, dictionary: Dictionary, seconds: number): string {
  if (!Number.isFinite(seconds)) return dictionary.units.unknownTime;
  if (seconds < 95) return dictionary.units.seconds(formatCount(language, Math.max(1, Math.round(seconds))));
  const minutes = seconds / 60;
  if (minutes < 95) return dictionary.units.minutes(formatCount(language, Math.round(minutes)));
  return dictionary.units.hours(numberFormat(language, { maximumFractionDigits: 1 }).format(minutes / 60));
}
