// SPDX-License-Identifier: MIT
// `npm pack` into the build folder: the package exactly as it would be published.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMain, main, run, say } from "./commands.mjs";
import { buildRoot, packageDescription } from "./locations.mjs";

/** Packs dist/, which has to be built, and returns the path of the tarball. */
export async function packPackage() {
  const folder = join(buildRoot, "pack");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { quiet: true });
  const { name, version } = packageDescription();
  return join(folder, `${name}-${version}.tgz`);
}

if (isMain(import.meta.url)) await main(async () => say(await packPackage()));
