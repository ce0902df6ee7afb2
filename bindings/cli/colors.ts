// SPDX-License-Identifier: MIT
// Colours on standard output only where a person looks at it. The library's own guess also colours pipes in CI, where other
// programs read what `poslab check` prints.

import picocolors from "picocolors";

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== "0";

const watched = process.stdout.isTTY === true && TERM !== "dumb";

export const colors = picocolors.createColors(!NO_COLOR && (forced || watched));
