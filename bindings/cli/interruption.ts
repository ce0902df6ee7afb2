// SPDX-License-Identifier: MIT
// Ctrl-C and its kin: the first one asks the work to stop and keep what is done, the second one ends the program at once.

import { exitStatus } from "./failure.js";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Interruption {
  readonly signal: AbortSignal;
  /** Stops the work for a reason other than a person's. */
  abort(reason: unknown): void;
  stopListening(): void;
}

export function listenForInterruption(onFirst: () => void, onSecond: () => void): Interruption {
  const controller = new AbortController();
  const listener = (): void => {
    if (controller.signal.aborted) {
      onSecond();
      process.exit(exitStatus.interrupted);
    }
    onFirst();
    controller.abort(new Error("interrupted"));
  };
  for (const name of signals) process.on(name, listener);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stopListening() {
      for (const name of signals) process.off(name, listener);
    },
  };
}
