// SPDX-License-Identifier: MIT
// Errors of the package as plain data, which threads can pass on, and as a sentence of the page's language. English is the
// package's own sentence; Chinese is made of the code, the argument and what is allowed.

import { describe, PosLabError, type ErrorCode, type RunFailure } from "../engine/poslab.js";
import { allowedPhrases, sentences, wholeWithoutAllowed } from "./chinese-errors.js";
import type { Language } from "./format.js";

export interface CoreError {
  /** in English */ message: string;
  code?: ErrorCode;
  argument?: string;
  /** as text */ given?: string;
  /** in English */ allowed?: string;
  suggestion?: string;
}

export function readError(error: unknown): CoreError {
  if (error instanceof PosLabError) return fromParts(error);
  return { message: error instanceof Error ? error.message : String(error) };
}

/** What stopped a run, as its event has it. */
export const readFailure = (failure: RunFailure): CoreError =>
  fromParts({ ...failure, code: failure.code as ErrorCode });

type Parts = { code: ErrorCode } & Pick<RunFailure, "message" | "argument" | "given" | "allowed" | "suggestion">;
function fromParts({ message, code, argument, given, allowed, suggestion }: Parts): CoreError {
  const shown = given === undefined || given === "" ? undefined : describe(given);
  return {
    message,
    code,
    ...(argument === undefined ? {} : { argument }),
    ...(shown === undefined ? {} : { given: shown }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

export function sayError(language: Language, error: CoreError): string {
  if (language === "en") return error.message;
  const { code, argument = "", given = "", allowed = "", suggestion = "" } = error;
  // Some of the package's own errors are one English sentence and nothing else.
  if (code === undefined || !(code in sentences) || (allowed === "" && !wholeWithoutAllowed.has(code)))
    return sentences.other(error.message);
  return sentences[code]({ argument, given, allowed: sayAllowed(allowed), suggestion, message: error.message });
}

/** A phrase that has no translation keeps its English, marked as such. */
export function sayAllowed(allowed: string): string {
  const phrase = allowed.replace(/,$/, "");
  if (phrase === "") return "";
  for (const [pattern, text] of allowedPhrases) {
    if (pattern.test(phrase)) return phrase.replace(pattern, text);
  }
  return `「${phrase}」`;
}
