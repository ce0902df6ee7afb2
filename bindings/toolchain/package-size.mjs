// SPDX-License-Identifier: MIT
// What the package adds to somebody's page: the built package is bundled as an application would bundle it, and
// size-limit compares module, glue and typed layer (gzip) with the budget in package.json. What is loaded only when it is
// called for (cases, configs; browser.js is the reader of GGUF) is left out there by name.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./commands.mjs";
import { buildRoot, nodeModules, packageDescription, packageFolder } from "./locations.mjs";

/** Bundles one entry point into a folder of build/size; what it loads only when called for is left out. */
async function bundleEntry(entry) {
  const { build } = await import("vite");
  const folder = join(buildRoot, "size", entry);
  const { output } = await build({
    configFile: false,
    root: packageFolder,
    base: "./",
    logLevel: "warn",
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      rollupOptions: {
        input: join(packageFolder, `js/${entry}.js`),
        preserveEntrySignatures: "strict",
        output: { entryFileNames: `${entry}.js`, chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
      },
    },
  });
  const loaded = new Set([`${entry}.js`]);
  for (const name of loaded) {
    for (const imported of output.find(({ fileName }) => fileName === name)?.imports ?? []) loaded.add(imported);
  }
  for (const { fileName, type } of output)
    if (type === "chunk" && !loaded.has(fileName)) rmSync(join(folder, fileName));
}

export async function checkSize() {
  rmSync(join(buildRoot, "size"), { recursive: true, force: true });
  for (const entry of ["index", "attention"]) await bundleEntry(entry);
  await run(join(nodeModules, ".bin/size-limit"), []);
  return {
    passed: packageDescription()["size-limit"].length,
    failed: 0,
    skipped: 0,
  };
}
