// SPDX-License-Identifier: MIT
// Terms inside a text of the dictionary: "[[name|as it reads here]]".

import type { Dictionary } from "../language/english.js";

export type TermName = keyof Dictionary["glossary"];
export interface TermPiece {
  text: string;
  /** entry of the glossary, for a term */ term?: TermName;
}

export function parseTerms(text: string): TermPiece[] {
  return text.split(/(\[\[\w+\|[^\]]+\]\])/).flatMap((part): TermPiece[] => {
    const term = /^\[\[(\w+)\|([^\]]+)\]\]$/.exec(part);
    if (term) return [{ text: term[2]!, term: term[1] as TermName }];
    return part === "" ? [] : [{ text: part }];
  });
}
