// SPDX-License-Identifier: MIT
// Makes a machine able to build PosLab: system packages, Emscripten, the Chinese poems and the npm packages. Safe to
// run again at any time; what is there is left alone. "--test" adds what only the tests need (Chromium).

import { Stop, compareVersions, isMain, main, say } from "./commands.mjs";
import { provideEmscripten } from "./emscripten.mjs";
import { provideNodeModules } from "./node-modules.mjs";
import { providePoems } from "./poems.mjs";
import { buildPackages, installMissing, testPackages } from "./system-packages.mjs";

const kMinimumNode = "20.0.0";

/** Returns the Emscripten to build with. */
export async function setUp({ forTests = false } = {}) {
  if (compareVersions(process.versions.node, kMinimumNode) < 0) {
    throw new Stop(`Node ${kMinimumNode} or newer is needed, and this is ${process.versions.node}.`);
  }
  await installMissing(forTests ? [...buildPackages, ...testPackages] : buildPackages);
  const emscripten = await provideEmscripten();
  await providePoems();
  await provideNodeModules();
  return emscripten;
}

if (isMain(import.meta.url)) {
  await main(async (options) => {
    const unknown = options.find((option) => option !== "--test");
    if (unknown) throw new Stop(`unknown option ${unknown}; the only one is --test (adds what the tests need)`);
    const emscripten = await setUp({ forTests: options.includes("--test") });
    say(`Ready: Emscripten ${emscripten.version} (${emscripten.source}).`);
  });
}
