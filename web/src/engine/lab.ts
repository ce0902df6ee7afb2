// SPDX-License-Identifier: MIT
// The package in the page's own thread, for what is computed while one drags: loaded once, when first needed.

import type { PosLab } from "./poslab.js";

let opened: Promise<PosLab> | undefined;

export function openLab(): Promise<PosLab> {
  opened ??= import("poslab").then(({ loadPosLab }) => loadPosLab());
  // A failed download is tried again the next time.
  opened.catch(() => (opened = undefined));
  return opened;
}
