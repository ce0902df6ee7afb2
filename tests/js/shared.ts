// SPDX-License-Identifier: MIT
// Where the shared reference data lies: POSLAB_SHARED, or ../shared beside the project. Tests that need it skip when it
// is absent.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const projectRoot = join(dirname(fileURLToPath(import.meta.url)), "../..");
const shared = process.env.POSLAB_SHARED ?? join(projectRoot, "../shared");

/** The path of a folder of the shared data, or null (with a note on the terminal) when it is not there. */
export function sharedFolder(name: string): string | null {
  const folder = join(shared, name);
  if (existsSync(folder)) return folder;
  console.warn(`skipped: ${folder} is not there (set POSLAB_SHARED)`);
  return null;
}
