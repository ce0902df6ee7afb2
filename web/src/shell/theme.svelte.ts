// SPDX-License-Identifier: MIT
// Light, dark or as the system says. Canvas drawings read `theme.shown`; style sheets follow the attribute on <html>.

import type { Theme } from "../schemes/looks.js";
import { recall, remember } from "./preferences.js";

export const themeChoices = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof themeChoices)[number];

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function firstChoice(): ThemeChoice {
  const stored = recall("theme");
  return themeChoices.find((choice) => choice === stored) ?? "system";
}

class ChosenTheme {
  choice = $state<ThemeChoice>(firstChoice());
  #system = $state<Theme>(systemDark.matches ? "dark" : "light");
  shown = $derived<Theme>(this.choice === "system" ? this.#system : this.choice);

  constructor() {
    systemDark.addEventListener("change", (event) => (this.#system = event.matches ? "dark" : "light"));
  }
  choose(choice: ThemeChoice): void {
    this.choice = choice;
    remember("theme", choice);
  }
}

export const theme = new ChosenTheme();
