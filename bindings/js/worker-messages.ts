// SPDX-License-Identifier: MIT
// What pool and worker say to each other: one object called through Comlink, answers that carry errors as data (an
// Error loses its code on the way), and a MessagePort a run for its events.

import { type ErrorCode, PosLabError } from "./errors.js";
import type { Variant } from "./module.js";
import type { RunController, RunRequest } from "./run-types.js";
import type { CompleteExperiment, Info } from "./types.js";

export interface ErrorData {
  code: ErrorCode;
  message: string;
  argument?: string | undefined;
  given?: unknown;
  allowed?: string | undefined;
  suggestion?: string | undefined;
}
export type Answer<T> = { value: T } | { error: ErrorData };

/** Methods of a controller that are called from afar. */
export type RunMethod = Exclude<keyof RunController, "encoding" | "seed" | "dispose">;

export interface WorkerApi {
  load(module: WebAssembly.Module, variant: Variant): Promise<Answer<Info>>;
  /** Keeps a text for the runs that name its key; texts that no run uses are let go. */
  keepCorpus(key: string, text: Uint8Array | string, unit: "characters" | "bytes"): Promise<Answer<null>>;
  check(experiment: CompleteExperiment, corpus: string | null): Promise<Answer<CompleteExperiment>>;
  open(id: number, request: RunRequest, corpus: string | null, events: MessagePort): Promise<Answer<null>>;
  call(id: number, method: RunMethod, values: unknown[]): Promise<Answer<unknown>>;
  close(id: number): Promise<Answer<null>>;
}

/** Sent through a run's port after its last event. */
export interface Closed {
  type: "closed";
}

export function errorData(error: unknown): ErrorData {
  if (error instanceof PosLabError) {
    const { code, message, argument, given, allowed, suggestion } = error;
    const plain = typeof given === "object" || typeof given === "function" ? undefined : given;
    return { code, message, argument, given: plain, allowed, suggestion };
  }
  return { code: "worker", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

export function valueOf<T>(answer: Answer<T>): T {
  if ("value" in answer) return answer.value;
  const { code, message, argument, given, allowed, suggestion } = answer.error;
  throw new PosLabError(code, message, {
    given,
    ...(argument === undefined ? {} : { argument }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

/** Buffers inside a message that nobody else needs: they are handed over instead of copied. */
export function buffersOf(...values: unknown[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const look = (value: unknown, depth: number): void => {
    if (ArrayBuffer.isView(value)) {
      // A view of a part of something larger (a corpus of the caller's) is copied: handing it over would take the rest
      // along.
      if (value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength)
        buffers.add(value.buffer);
    } else if (depth > 0 && typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) look(inner, depth - 1);
    }
  };
  for (const value of values) look(value, 3);
  return [...buffers];
}
