// SPDX-License-Identifier: MIT
// What a race does while its tab is hidden: it pauses where the visitor asked for that, and trains on otherwise. Either way
// what it has reached is stored.

import { recall, remember } from "../shell/preferences.js";
import type { LiveRace } from "./live.svelte.js";

export class HiddenTab {
  pauses = $state(recall("pauseWhenHidden") === "on");
  /** paused because the tab is hidden, and to go on when it is seen again */ #waits = false;

  setPauses(on: boolean): void {
    this.pauses = on;
    remember("pauseWhenHidden", on ? "on" : "off");
  }

  async changed(hidden: boolean, live: LiveRace | null): Promise<void> {
    if (!live) return;
    if (hidden && this.pauses && live.phase === "running") {
      this.#waits = true;
      await live.pause(); // keeps, too
    } else if (hidden) {
      await live.keep();
    } else if (this.#waits) {
      this.#waits = false;
      if (live.phase === "paused") await live.play();
    }
  }
}
