// SPDX-License-Identifier: MIT
// One loaded module for the tests of a file.

import { loadPosLab, type PosLab } from "../../bindings/js/index.js";

let loaded: Promise<PosLab> | undefined;

export function sharedLab(): Promise<PosLab> {
  loaded ??= loadPosLab();
  return loaded;
}
