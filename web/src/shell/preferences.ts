// SPDX-License-Identifier: MIT
// Small choices that outlive a visit (language, theme, shortcuts, last speed). A browser that forbids storage simply
// forgets them.

export type Preference = "language" | "theme" | "shortcuts" | "speed" | "pauseWhenHidden";
const kPrefix = "poslab.";

export function recall(name: Preference): string | null {
  try {
    return localStorage.getItem(kPrefix + name);
  } catch {
    return null; // storage is forbidden: nothing is remembered
  }
}

export function remember(name: Preference, value: string): void {
  try {
    localStorage.setItem(kPrefix + name, value);
  } catch {
    // storage is forbidden or full: the choice holds for this visit
  }
}
