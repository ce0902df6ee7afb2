// SPDX-License-Identifier: MIT
// Makes a machine able to build PosLab: system packages, Emscripten, the Chinese poems and the npm packages. Safe to
// run again at any time; what is there is left alone. "--test" adds what only the tests need (Chromium, clang-format).

import { Stop, compareVersions, isMain, main, say } from "./commands.mjs";
import { provideEmscripten } from "./emscripten.mjs";
import { provideNodeModules } from "./node-modules.mjs";
import { providePoems } from "./poems.mjs";
import {
  benchPackages,
  browserPackages,
  buildPackages,
  checkCmake,
  formatPackages,
  installMissing,
} from "./system-packages.mjs";

const kMinimumNode = "20.0.0";

/** What can be asked for, in the order in which it is provided. */
const kParts = {
  native: async () => {
    await installMissing(buildPackages);
    checkCmake();
  },
  format: () => installMissing(formatPackages),
  browser: () => installMissing(browserPackages),
  bench: () => installMissing(benchPackages),
  emscripten: provideEmscripten,
  poems: providePoems,
  npm: () => provideNodeModules(),
};

export const kForBuilding = ["native", "emscripten", "poems", "npm"];
export const kForTesting = Object.keys(kParts).filter((name) => name !== "bench");

/** Provides the named parts; without names, what `npm start` needs. */
export async function setUp(names = kForBuilding) {
  if (compareVersions(process.versions.node, kMinimumNode) < 0) {
    throw new Stop(`Node ${kMinimumNode} or newer is needed, and this is ${process.versions.node}.`);
  }
  for (const [name, provide] of Object.entries(kParts)) {
    if (names.includes(name)) await provide();
  }
}

if (isMain(import.meta.url)) {
  await main(async (options) => {
    const unknown = options.find((option) => option !== "--test");
    if (unknown) throw new Stop(`unknown option ${unknown}; the only one is --test (adds what the tests need)`);
    await setUp(options.includes("--test") ? kForTesting : kForBuilding);
    const emscripten = await provideEmscripten();
    say(`Ready: Emscripten ${emscripten.version} (${emscripten.source}).`);
  });
}
