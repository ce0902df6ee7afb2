// SPDX-License-Identifier: MIT
// npm packages exactly as the lock file names them. npm writes node_modules/.package-lock.json last, so a folder from
// an install that was cut off does not carry the mark that is compared here.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run, say } from "./commands.mjs";
import { nodeModules, projectRoot } from "./locations.mjs";
import { digestOfText } from "./stamps.mjs";

const kMark = join(nodeModules, ".poslab-lock");

export async function provideNodeModules() {
  const lockFile = join(projectRoot, "package-lock.json");
  if (!existsSync(lockFile)) return;
  const wanted = digestOfText(readFileSync(lockFile, "utf8") + process.versions.modules);
  if (existsSync(kMark) && readFileSync(kMark, "utf8") === wanted) return;
  if (matchesLock(lockFile)) {
    writeFileSync(kMark, wanted);
    return;
  }
  say("npm packages are missing or not those of package-lock.json: npm ci");
  await run("npm", ["ci", "--no-audit", "--no-fund"], {
    failure: "npm could not install the packages (its message is above); run the same command again once it can.",
  });
  writeFileSync(kMark, wanted);
}

/** True when npm's own record of what it installed lists every package of the lock file in the same version. */
function matchesLock(lockFile) {
  const record = join(nodeModules, ".package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === "" || entry.optional || installed[path]?.version === entry.version,
  );
}
