// SPDX-License-Identifier: MIT
// What is typed into a box and is not a value yet. What cannot be used stays in the box and enters the page's list of
// refused fields; where the page has none, the box itself says which value applies until then.

import { language } from "../language/language.svelte.js";
import { refusedHere } from "./refused.svelte.js";

interface Box<Value> {
  id: string;
  label: () => string;
  /** what the box shows when nothing is typed */ value: () => Value;
  /** whether what is typed cannot be a value */ refuses: (typed: string) => boolean;
}

export interface Draft<Value> {
  readonly typed: string | null;
  readonly problem: boolean;
  /** Keeps what is typed for as long as the value is this one: one that comes from elsewhere is shown. */
  keep: (typed: string, value: Value) => void;
  forget: () => void;
  /** What is wrong: `allowed` says what the box takes, `applies` is the value until then. */
  complaint: (allowed: string, applies: string) => string;
}

/** To be called while the component of the box is made. */
export function draftOf<Value>({ id, label, value, refuses }: Box<Value>): Draft<Value> {
  const refused = refusedHere();
  let typed = $state<string | null>(null);
  let taken: Value | undefined;
  const problem = $derived(typed !== null && refuses(typed));
  const forget = () => void (typed = null);

  $effect.pre(() => {
    if (value() !== taken) forget();
  });
  $effect(() => (problem ? refused?.enter(id, { label: label(), forget }) : undefined));

  return {
    get typed() {
      return typed;
    },
    get problem() {
      return problem;
    },
    keep: (text, value) => {
      typed = text;
      taken = value;
    },
    forget,
    complaint: (allowed, applies) =>
      [allowed, ...(refused ? [] : [language.words.setup.stays(applies)])].join(language.words.punctuation.sentence),
  };
}
