// SPDX-License-Identifier: MIT
// A text as the lab sees it: the training part's distinct characters (or bytes) as vocabulary, first 90 % to train, the
// rest to test.

import type { Core, CoreCorpus } from "./core-interface.js";
import { unwrap, wrongArgument } from "./errors.js";
import { Owner } from "./owner.js";
import { isTypedArray, readNatural } from "./tensors.js";

/** How a symbol outside the vocabulary is written. */
export const unknownSymbol = "\ufffd";

export class LabCorpus extends Owner<CoreCorpus> {
  readonly unit: "characters" | "bytes";
  #ids: Map<number, number> | undefined;

  /** @internal made by PosLab.corpus */
  constructor(core: CoreCorpus, unit: "characters" | "bytes") {
    super(core, "the corpus");
    this.unit = unit;
  }

  /** @internal */
  static make(core: Core, text: Uint8Array | string, unit: "characters" | "bytes"): LabCorpus {
    if (typeof text !== "string" && !(text instanceof Uint8Array))
      throw wrongArgument("type", "task.text", text, "a text or its UTF-8 bytes");
    if (unit !== "characters" && unit !== "bytes")
      throw wrongArgument("unknownName", "task.unit", unit, '"characters" or "bytes"');
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    return new LabCorpus(unwrap(core.makeCorpus(bytes, unit === "bytes")).Corpus, unit);
  }

  /** Distinct symbols and one spare id, the last, for unseen ones. */
  get vocabulary(): number {
    return this.core.vocabulary();
  }
  /** Symbols of the training part. */
  get trainingSize(): number {
    return this.core.trainingSize();
  }
  get testSize(): number {
    return this.core.testSize();
  }

  /** Ids of the test part. */
  testIds(from: number, count: number): Int32Array {
    readNatural(from, "from");
    readNatural(count, "count");
    return this.core.testIds(from, count);
  }

  /** Ids of a text; what the vocabulary does not have becomes the spare id. */
  encode(text: string): Int32Array {
    if (typeof text !== "string") throw wrongArgument("type", "text", text, "a text");
    this.#ids ??= new Map([...this.core.symbols()].map((symbol, id) => [symbol, id]));
    const spare = this.vocabulary - 1;
    const symbols =
      this.unit === "bytes"
        ? [...new TextEncoder().encode(text)]
        : Array.from(text, (character) => character.codePointAt(0)!);
    return Int32Array.from(symbols, (symbol) => this.#ids!.get(symbol) ?? spare);
  }

  /** Each id as it is written. Bytes outside ASCII are written as in Latin-1: alone they are no characters. */
  decode(ids: ArrayLike<number>): string[] {
    if (!Array.isArray(ids) && !isTypedArray(ids)) throw wrongArgument("type", "ids", ids, "a list of ids");
    const symbols = this.core.symbols();
    return Array.from(ids, (id) => {
      const symbol = symbols[id];
      return symbol === undefined ? unknownSymbol : String.fromCodePoint(symbol);
    });
  }

  /** @internal */
  get handle(): CoreCorpus {
    return this.core;
  }
}
