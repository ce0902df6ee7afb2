// SPDX-License-Identifier: MIT
// A race that trains in one tab is not restored in another: the tab that has it holds a lock of its name, which the browser
// gives back when the tab goes. Where there are no locks (no secure context), every tab may have every race.

const nameOf = (id: string) => `poslab.race.${id}`;

export type Release = () => Promise<void>;

/** Holds the race for this tab until the result is called, which says when the race is free. */
export function holdRace(id: string): Release {
  if (!navigator.locks) return () => Promise.resolve();
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  // Held by another tab: this one waits in line, which is harmless.
  const waiting = new AbortController();
  const over = navigator.locks.request(nameOf(id), { signal: waiting.signal }, () => held).catch(() => {});
  return async () => {
    letGo();
    waiting.abort(); // when it was still in line
    await over;
  };
}

export async function isHeldElsewhere(id: string): Promise<boolean> {
  if (!navigator.locks) return false;
  try {
    return await navigator.locks.request(nameOf(id), { ifAvailable: true }, (lock) => lock === null);
  } catch {
    return false; // locks are forbidden here, and so is storage
  }
}
