// SPDX-License-Identifier: MIT
// The state of the Encodings page: which scheme, what is set, and the package once it is there.

import { openLab } from "../engine/lab.js";
import type { PosLab } from "../engine/poslab.js";
import { address } from "../shell/address.svelte.js";
import type { Notice } from "../state/link.js";
import { readPageLink, writePageLink, type SchemeObject } from "../state/page-link.js";
import { settings, settingsDefaults, type Settings, type SizeName, type Sizes } from "./settings.js";

export class EncodingsPage {
  readonly type: string = "";
  lab = $state.raw<PosLab | null>(null);
  failure = $state<string | null>(null);
  settings = $state.raw<Settings>(settingsDefaults);
  notices = $state.raw<Notice[]>([]);

  sizes: Sizes = $derived.by(() => {
    const { length, dim, heads, headDim, seed } = this.settings;
    return { length, dim, heads, headDim, seed };
  });
  /** The scheme of the page and, when there is one, the scheme beside it. */
  schemes: SchemeObject[] = $derived([{ ...this.settings.own[0], type: this.type }, ...this.settings.beside]);
  query = $derived(writePageLink(settings, this.settings));

  constructor(type: string, query: string) {
    this.type = type;
    const { values, notices } = readPageLink(settings, query);
    this.settings = values;
    this.notices = notices;
  }
  async begin(): Promise<void> {
    try {
      this.lab = await openLab();
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  setSize(name: SizeName, value: number): void {
    this.settings = { ...this.settings, [name]: value };
  }
  /** Sets a field of the first or the second scheme; `undefined` puts its default back. */
  setField(index: number, name: string, value: unknown): void {
    const changed: SchemeObject = { ...this.schemes[index]! };
    if (value === undefined) delete changed[name];
    else changed[name] = value;
    if (index === 1) this.settings = { ...this.settings, beside: [changed] };
    else this.settings = { ...this.settings, own: Object.keys(changed).length > 1 ? [changed] : [] };
  }
  setBeside(type: string | null): void {
    this.settings = { ...this.settings, beside: type === null ? [] : [{ type }] };
    address.named("encodings", this.query, this.type);
  }
}
