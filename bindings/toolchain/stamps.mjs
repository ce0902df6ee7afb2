// SPDX-License-Identifier: MIT
// Skips a build step whose inputs have not changed. A step's stamp is a digest of its input files and is written only
// after the step has succeeded and its outputs are there; anything else means that the step runs again.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { projectRoot, stampFolder } from "./locations.mjs";

export function digestOfText(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** A digest over the names and contents of files and folders (relative to the project) and some further text. */
export function digestOfInputs(paths, further = "") {
  const hash = createHash("sha256").update(further);
  for (const path of paths) {
    for (const file of filesBelow(join(projectRoot, path))) {
      hash.update(relative(projectRoot, file)).update("\0").update(readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

/** The files in a folder and the folders in it, sorted; a file itself; nothing when there is none. */
export function filesBelow(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** Runs `body` unless this step's inputs are those of its last success and its outputs are still there. */
export async function whenChanged(step, { inputs, further = "", outputs }, body) {
  const stamp = join(stampFolder, step);
  const digest = digestOfInputs(inputs, further);
  const current = existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
  if (current && outputs.every((path) => existsSync(path))) return false;
  rmSync(stamp, { force: true });
  await body();
  // Inputs may have been edited meanwhile: the digest taken before the step is the one that it is true for.
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(stamp, digest);
  return true;
}
