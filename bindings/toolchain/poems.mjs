// SPDX-License-Identifier: MIT
// Fetches Debian's fortunes-zh (three hundred Tang poems and a hundred Song lyrics), unpacked into the user's cache and
// not installed. The Chinese corpus is an extra: where it cannot be had the set-up says so and goes on without.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Stop, run, say } from "./commands.mjs";
import { poemsFolder } from "./locations.mjs";
import { withLock } from "./lock.mjs";
import { aptCandidate, aptSystem } from "./system-packages.mjs";

const kPackage = "fortunes-zh";
const kFiles = "usr/share/games/fortunes";

/** Paths of the two collections, or null where they were not fetched. */
export function findPoems() {
  const files = ["tang300", "song100"].map((name) => join(poemsFolder, kFiles, name));
  return files.every((file) => existsSync(file)) ? files : null;
}

export async function providePoems() {
  if (findPoems()) return;
  if (!aptSystem() || !aptCandidate(kPackage)) {
    say("No package fortunes-zh here: the site will have no Chinese text built in, and says so.");
    return;
  }
  say("To be downloaded, not installed:\n  fortunes-zh       Tang and Song poems, the Chinese text of the experiments");
  await withLock(kPackage, fetchPoems).catch((error) => {
    if (!(error instanceof Stop)) throw error;
    say(`${error.message}\nGoing on without Chinese text; the next run tries again.`);
  });
}

async function fetchPoems() {
  if (findPoems()) return;
  const part = `${poemsFolder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const failure = "fortunes-zh could not be downloaded.";
  await run("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=", kPackage], { cwd: part, failure });
  const deb = readdirSync(part).find((name) => name.endsWith(".deb"));
  if (!deb) throw new Stop(failure);
  await run("dpkg", ["-x", join(part, deb), part], { failure });
  rmSync(join(part, deb));
  rmSync(poemsFolder, { recursive: true, force: true });
  renameSync(part, poemsFolder);
}
