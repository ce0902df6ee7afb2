// SPDX-License-Identifier: MIT
// npm packages exactly as the lock file names them. npm writes node_modules/.package-lock.json last, so a folder from
// an install that was cut off does not carry the mark that is compared here.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run, say } from "./commands.mjs";
import { projectRoot } from "./locations.mjs";
import { digestOfText } from "./stamps.mjs";

/** Those of the project, or of a folder that has a package.json of its own. */
export async function provideNodeModules(folder = projectRoot) {
  const lockFile = join(folder, "package-lock.json");
  if (!existsSync(lockFile)) return;
  const mark = join(folder, "node_modules/.poslab-lock");
  const wanted = digestOfText(readFileSync(lockFile, "utf8") + process.versions.modules);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  if (matchesLock(folder, lockFile)) {
    writeFileSync(mark, wanted);
    return;
  }
  const where = folder === projectRoot ? "" : ` (in ${relative(projectRoot, folder)})`;
  say(`npm packages are missing or not those of package-lock.json: npm ci${where}`);
  await run("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: folder,
    failure: "npm could not install the packages (its message is above); run the same command again once it can.",
  });
  writeFileSync(mark, wanted);
}

/** True when npm's own record of what it installed lists every package of the lock file in the same version. */
function matchesLock(folder, lockFile) {
  const record = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === "" || entry.optional || installed[path]?.version === entry.version,
  );
}
