// SPDX-License-Identifier: MIT
// Fields that hold what cannot be used. A page that acts on its settings by a button provides the list: fields enter
// themselves, so that the button can wait for them and say which they are.

import { getContext, setContext } from "svelte";
import { SvelteMap } from "svelte/reactivity";

export interface RefusedField {
  label: string;
  /** puts the last good value back into the box */ forget: () => void;
}

export class RefusedFields {
  readonly #fields = new SvelteMap<string, RefusedField>();

  /** `id` is that of the box. Returns how the field leaves the list. */
  enter(id: string, field: RefusedField): () => void {
    this.#fields.set(id, field);
    return () => this.#fields.delete(id);
  }
  get list(): { id: string; label: string }[] {
    return [...this.#fields].map(([id, { label }]) => ({ id, label }));
  }
  get any(): boolean {
    return this.#fields.size > 0;
  }
  /** Other settings have come: what was typed over the old ones is over. */
  forgetAll(): void {
    for (const { forget } of [...this.#fields.values()]) forget();
  }
}

const kKey = Symbol("refused fields");

/** For all fields below this component. */
export const provideRefused = (fields: RefusedFields): unknown => setContext(kKey, fields);
/** None where settings act at once. */
export const refusedHere = (): RefusedFields | undefined => getContext<RefusedFields | undefined>(kKey);

/** Brings the focus to a box, also to one that is folded away. */
export function goToField(id: string): void {
  const field = document.getElementById(id);
  const folded = field?.closest("details");
  if (folded) folded.open = true;
  field?.focus();
}
