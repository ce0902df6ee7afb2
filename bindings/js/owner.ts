// SPDX-License-Identifier: MIT
// Objects that own memory of the module: `dispose()` and `Symbol.dispose` give it back, a finalizer does when they are
// forgotten, giving it back twice is harmless, and using them afterwards is a PosLabError.

/// <reference lib="esnext.disposable" preserve="true" />
import { PosLabError } from "./errors.js";

/** `Symbol.dispose`, or a symbol of our own where the engine has none yet (Safari). */
export const disposeSymbol: typeof Symbol.dispose =
  (Symbol.dispose as typeof Symbol.dispose | undefined) ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

interface Deletable {
  delete(): void;
}

const forgotten = new FinalizationRegistry<Deletable>((object) => object.delete());

export abstract class Owner<Core extends Deletable> {
  #core: Core | null;
  readonly #what: string;

  /** @param what what a message calls this object: "the run" */
  protected constructor(core: Core, what: string) {
    this.#core = core;
    this.#what = what;
    forgotten.register(this, core, this);
  }

  /** The module's object. @throws PosLabError (disposed) after `dispose`. */
  protected get core(): Core {
    if (!this.#core)
      throw new PosLabError("disposed", `${this.#what} has been disposed of; it cannot be used any more`);
    return this.#core;
  }

  get disposed(): boolean {
    return this.#core === null;
  }

  /** Gives the memory back. Further calls do nothing. */
  dispose(): void {
    if (!this.#core) return;
    forgotten.unregister(this);
    this.#core.delete();
    this.#core = null;
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}
