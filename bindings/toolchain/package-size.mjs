// SPDX-License-Identifier: MIT
// What the package adds to somebody's page: the built package is bundled as an application would bundle it, and
// size-limit compares module, glue and typed layer (gzip) with the budget in package.json. What is loaded only when it is
// called for (cases, configs; browser.js is the reader of GGUF) is left out there by name.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./commands.mjs";
import { buildRoot, nodeModules, packageFolder } from "./locations.mjs";

export async function checkSize() {
  const { build } = await import("vite");
  const { output } = await build({
    configFile: false,
    root: packageFolder,
    base: "./",
    logLevel: "warn",
    build: {
      outDir: join(buildRoot, "size"),
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      rollupOptions: {
        input: join(packageFolder, "js/index.js"),
        preserveEntrySignatures: "strict",
        output: { entryFileNames: "index.js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
      },
    },
  });
  // What is imported only when it is called (configs, models, the relaxed build) is not part of the budget.
  const loaded = new Set(["index.js"]);
  for (const name of loaded) {
    for (const imported of output.find(({ fileName }) => fileName === name)?.imports ?? []) loaded.add(imported);
  }
  for (const { fileName, type } of output)
    if (type === "chunk" && !loaded.has(fileName)) rmSync(join(buildRoot, "size", fileName));
  await run(join(nodeModules, ".bin/size-limit"), []);
  return { passed: 2, failed: 0, skipped: 0 };
}
