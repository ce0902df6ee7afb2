// SPDX-License-Identifier: MIT
// One loaded module for the tests of a file, and how its calls are seen to refuse.

import { expect } from "vitest";
import { loadPosLab, type PosLab, PosLabError } from "../../bindings/js/index.js";

let loaded: Promise<PosLab> | undefined;

export function sharedLab(): Promise<PosLab> {
  loaded ??= loadPosLab();
  return loaded;
}

/** What a call that must be refused is refused with. */
export function failure(call: () => unknown): PosLabError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(PosLabError);
    return error as PosLabError;
  }
  throw new Error("the call was accepted");
}
