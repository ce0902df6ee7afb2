// SPDX-License-Identifier: MIT
// Copying, which browsers may refuse: without a secure context, in a frame, or because the visitor said so. What came of it
// is said for a while.

import { language } from "../language/language.svelte.js";

const kSaidFor = 4000;

export class Copying {
  /** to be shown beside the button, as a status */ said = $state("");

  /** `copied` is said where it worked. */
  async text(text: string, copied: string): Promise<void> {
    this.#say((await isCopied(text)) ? copied : language.words.save.notCopied);
  }

  /** The same for a field's text, which is left selected where it could not be copied. */
  async field(id: string, copied: string): Promise<void> {
    const field = document.getElementById(id) as HTMLInputElement;
    if (await isCopied(field.value)) return this.#say(copied);
    field.focus();
    field.select();
    this.#say(language.words.save.selectedInstead);
  }

  #say(words: string): void {
    this.said = words;
    setTimeout(() => (this.said = ""), kSaidFor);
  }
}

async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
