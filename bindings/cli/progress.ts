// SPDX-License-Identifier: MIT
// Progress on standard error: on a terminal one bar a run, elsewhere plain lines that a log can keep.

import type { MultiBar as MultiBarType, SingleBar } from "cli-progress";
import cliProgress from "cli-progress";
import type { RunProgress } from "../js/types.js";

export interface ProgressReporter {
  update(progress: RunProgress): void;
  /** A line of its own, above the bars. */
  notice(text: string): void;
  stop(): void;
}

const kResolution = 1000;
/** Without a terminal a run reports at every tenth of its work. */
const kTenths = 10;

export function createReporter(label: (progress: RunProgress) => string, quiet: boolean): ProgressReporter {
  if (quiet) return { update: () => {}, notice: () => {}, stop: () => {} };
  return process.stderr.isTTY ? new Bars(label) : new Lines(label);
}

class Bars implements ProgressReporter {
  readonly #bars = new Map<string, SingleBar>();
  readonly #label: (progress: RunProgress) => string;
  readonly #multi: MultiBarType;

  constructor(label: (progress: RunProgress) => string) {
    this.#label = label;
    this.#multi = new cliProgress.MultiBar(
      {
        format: `{label} {bar} {percentage}%  {detail}`,
        barsize: 24,
        autopadding: true,
        hideCursor: true,
        stream: process.stderr,
        fps: 10,
        emptyOnZero: true,
        // Ctrl-C is not the end here: the experiment is saved first, then the bars are stopped.
        gracefulExit: false,
      },
      cliProgress.Presets.rect,
    );
  }

  update(progress: RunProgress): void {
    if (progress.phase === "waiting") return;
    const key = `${progress.encoding}.${progress.seed}`;
    let bar = this.#bars.get(key);
    const payload = { label: this.#label(progress), detail: detail(progress) };
    if (!bar) {
      bar = this.#multi.create(kResolution, 0, payload);
      this.#bars.set(key, bar);
    }
    bar.update(Math.round(progress.fraction * kResolution), payload);
    const finished = progress.phase === "done" || progress.phase === "failed";
    // With more runs than rows the finished ones make room.
    if (finished && this.#bars.size > (process.stderr.rows ?? 24) - 4) this.#multi.remove(bar);
  }

  notice(text: string): void {
    this.#multi.log(`${text}\n`);
    this.#multi.update();
  }

  stop(): void {
    this.#multi.stop();
  }
}

class Lines implements ProgressReporter {
  readonly #said = new Map<string, string>();
  readonly #label: (progress: RunProgress) => string;

  constructor(label: (progress: RunProgress) => string) {
    this.#label = label;
  }

  update(progress: RunProgress): void {
    if (progress.phase === "waiting") return;
    const key = `${progress.encoding}.${progress.seed}`;
    const mark = `${progress.phase} ${Math.floor(progress.fraction * kTenths)}`;
    if (this.#said.get(key) === mark) return;
    this.#said.set(key, mark);
    this.notice(
      `${this.#label(progress)}: ${String(Math.floor(progress.fraction * 100)).padStart(3)} %  ${detail(progress)}`,
    );
  }

  notice(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  stop(): void {}
}

function detail(progress: RunProgress): string {
  switch (progress.phase) {
    case "waiting":
      return "waiting";
    case "measuring":
      return "measuring";
    case "done":
      return "done";
    case "failed":
      return `failed: ${progress.error ?? "unknown"}`;
    case "training": {
      const parts = [`step ${progress.step}/${progress.steps}`];
      if (progress.loss !== null) parts.push(`loss ${progress.loss.toFixed(3)}`);
      if (progress.stepsPerSecond > 0)
        parts.push(`${progress.stepsPerSecond.toFixed(progress.stepsPerSecond < 10 ? 1 : 0)} steps/s`);
      if (progress.secondsLeft !== null) parts.push(`${duration(progress.secondsLeft)} left`);
      return parts.join(", ");
    }
  }
}

/** "42 s", "3 min 5 s", "2 h 10 min". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
