// SPDX-License-Identifier: MIT
// Errors of the package. The core reports failures as data; here they become sentences that name the argument, what was
// given and what is allowed: "position.rotaryDim: 5 was given; an even number from 2 to 8 is allowed".

import type { Failure, Outcome } from "./core-types.js";

/**
 * What went wrong, for programs: the core's codes (unknownName, type, shape, range, contradiction, missing, memory,
 * notDefined, format, diverged, state) and the package's own: `load` (the module could not be loaded), `disposed` (use
 * after dispose), `aborted` (an AbortSignal fired), `worker` (a worker died).
 */
export type ErrorCode =
  | "unknownName"
  | "type"
  | "shape"
  | "range"
  | "contradiction"
  | "missing"
  | "memory"
  | "notDefined"
  | "format"
  | "diverged"
  | "state"
  | "load"
  | "disposed"
  | "aborted"
  | "worker";

export interface ErrorDetails {
  /** the public name of the argument: "position.rotaryDim", "query", "training.steps" */ argument?: string;
  /** what was given */ given?: unknown;
  /** what is allowed, as a part of a sentence */ allowed?: string;
  /** the nearest known name */ suggestion?: string;
  cause?: unknown;
}

/** Every error that the package throws. */
export class PosLabError extends Error {
  override readonly name: string = "PosLabError";
  readonly code: ErrorCode;
  readonly argument: string | undefined;
  readonly given: unknown;
  readonly allowed: string | undefined;
  readonly suggestion: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.argument = details.argument;
    this.given = details.given;
    this.allowed = details.allowed;
    this.suggestion = details.suggestion;
  }
}

/** The usual sentence: argument, what was given, what is allowed. */
export function wrongArgument(
  code: ErrorCode,
  argument: string,
  given: unknown,
  allowed: string,
  suggestion = "",
): PosLabError {
  return new PosLabError(code, sentence(code, argument, describe(given), allowed, suggestion), {
    argument,
    given,
    allowed,
    ...(suggestion ? { suggestion } : {}),
  });
}

/** Throws the failure of an outcome as a PosLabError; otherwise returns the outcome as what the call gives. */
export function unwrap<T extends object>(
  outcome: Outcome<T>,
  rename: (argument: string) => string = (name) => name,
): T {
  if (outcome.failure) throw errorFromFailure(outcome.failure, rename);
  return outcome as T;
}

export function errorFromFailure(failure: Failure, rename: (argument: string) => string = (name) => name): PosLabError {
  const argument = rename(failure.argument);
  const given = failure.givenNumber ?? failure.given;
  const code = failure.code as ErrorCode;
  const allowed = failure.allowed.replace(/\{(\d)\}/g, (_, index: string) => {
    const limit = formatNumber(failure.limits[Number(index)] ?? NaN);
    return code === "memory" ? groupDigits(limit) : limit;
  });
  const shown = failure.givenNumber === null ? quote(failure.given) : formatNumber(failure.givenNumber);
  return new PosLabError(code, sentence(code, argument, shown, allowed, failure.suggestion), {
    argument,
    given,
    allowed,
    ...(failure.suggestion ? { suggestion: failure.suggestion } : {}),
  });
}

function sentence(code: ErrorCode, argument: string, given: string, allowed: string, suggestion: string): string {
  const hint = suggestion ? `; did you mean "${suggestion}"?` : "";
  switch (code) {
    case "memory":
      return `${argument}: ${groupDigits(given)} bytes were asked for; ${allowed || "less"} can be had`;
    case "unknownName":
      return given
        ? `${argument}: ${given} is not known${hint || (allowed ? `; ${allowed} is allowed` : "")}`
        : `${argument} is not known${hint || (allowed ? `; ${allowed} is allowed` : "")}`;
    case "missing":
      return `${argument} is missing${allowed ? `; ${allowed} is needed` : ""}`;
    case "diverged":
      return `${argument || "training"}: a number is not finite any more at step ${given}; the weights are those of the last good step. A lower learning rate may help`;
    case "format":
      return `${argument} must be ${allowed}`;
    case "notDefined":
    case "state":
      return given ? `${argument}: ${given} was given; ${allowed}` : `${argument}: ${allowed}`;
    default:
      return given
        ? `${argument}: ${given} was given; ${allowed} is allowed${hint}`
        : `${argument}: ${allowed} is allowed${hint}`;
  }
}

/** A value as a short part of a message. */
export function describe(value: unknown): string {
  if (typeof value === "string") return quote(value) || '""';
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "bigint") return `${value}n (a BigInt)`;
  if (typeof value === "boolean" || value === null || value === undefined) return String(value);
  if (Array.isArray(value)) {
    const isFlat = value.length <= 8 && value.every((entry) => typeof entry !== "object" || entry === null);
    return isFlat ? `[${value.map(describe).join(", ")}]` : `an array of ${value.length}`;
  }
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name}`;
  if (typeof value === "function") return "a function";
  return "an object";
}

function quote(text: string): string {
  if (text === "") return "";
  return `"${text.length > 60 ? `${text.slice(0, 57)}...` : text}"`;
}

function formatNumber(value: number): string {
  return String(value);
}

function groupDigits(number: string): string {
  const value = Number(number);
  return Number.isInteger(value) ? value.toLocaleString("en-US") : number;
}
