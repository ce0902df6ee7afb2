// SPDX-License-Identifier: MIT
// Long work in slices on one thread: each slice takes about 30 ms, then the event loop has its turn, so that messages
// (pause, cancel) are heard within 100 ms. Workers that several runs share give each a slice in turn.

/** How long a slice should take, in milliseconds. */
const sliceTime = 30;

/** Lets everything that waits in the event loop happen. (setTimeout would wait at least 4 ms in browsers.) */
export const nextTurn: () => Promise<void> =
  typeof setImmediate === "function"
    ? () => new Promise((resolve) => setImmediate(resolve))
    : (() => {
        const channel = new MessageChannel();
        const waiting: (() => void)[] = [];
        channel.port1.onmessage = () => waiting.shift()?.();
        return () =>
          new Promise<void>((resolve) => {
            waiting.push(resolve);
            channel.port2.postMessage(null);
          });
      })();

/** Learns how much work fits a slice: start small, then follow the time that the last slices took. */
export class SliceSize {
  #amount = 1;

  get amount(): number {
    return Math.max(1, Math.floor(this.#amount));
  }

  /** Runs one slice of `amount` and learns from it. */
  timed(work: (amount: number) => void): void {
    const { amount } = this;
    const started = performance.now();
    work(amount);
    const wanted = (amount * sliceTime) / Math.max(0.1, performance.now() - started);
    // At most twice as much at once: the next piece of work may cost more than this one did.
    this.#amount = Math.min(wanted, 2 * amount);
  }
}
