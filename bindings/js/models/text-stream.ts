// SPDX-License-Identifier: MIT
// Ids to text while they come: a piece is given out when it can change no more. One character may be several tokens, and
// what a token looks like depends on those before it, so that pieces are differences of decoded texts.

import type { ModelTokenizer } from "./tokenizers/tokenizer.js";

/** Stands for bytes that make no character (yet). */
const incomplete = "\ufffd";

export class TextStream {
  readonly ids: number[];
  readonly #tokenizer: ModelTokenizer;
  /** ids from here on are decoded; those up to #given have been given out */ #from = 0;
  #given: number;
  #text: string;

  /** @param promptIds what the text begins with */
  constructor(tokenizer: ModelTokenizer, promptIds: Int32Array) {
    this.#tokenizer = tokenizer;
    this.ids = [...promptIds];
    this.#given = this.ids.length;
    this.#text = tokenizer.decode(this.ids);
  }

  /** The text so far, that of the prompt included. */
  get text(): string {
    return this.#text;
  }

  /** One more id; returns the text that is now certain. */
  push(id: number): string {
    this.ids.push(id);
    const piece = this.#difference();
    return piece.endsWith(incomplete) ? "" : this.#give(piece);
  }

  /** What was held back. */
  end(): string {
    return this.#give(this.#difference());
  }

  #difference(): string {
    const before = this.#tokenizer.decode(this.ids.slice(this.#from, this.#given));
    return this.#tokenizer.decode(this.ids.slice(this.#from)).slice(before.length);
  }

  #give(piece: string): string {
    if (piece !== "") {
      this.#from = this.#given;
      this.#given = this.ids.length;
      this.#text += piece;
    }
    return piece;
  }
}
