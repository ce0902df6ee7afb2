// SPDX-License-Identifier: MIT
// Joins the modules of the package into one file an entry point and a few that several share: Node opens five files
// instead of fifty, a third of the time to the first result. Declarations stay as TypeScript wrote them, a file a module.

import { renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { buildRoot, packageDescription, packageFolder, projectRoot } from "./locations.mjs";
import { filesBelow } from "./stamps.mjs";

const kForRecording = ["dist/cli/weight-files.js", "dist/cli/result-svg.js"];

/** The modules that are opened by name: those of package.json, and those that npm run record takes. */
function entryPoints({ exports, bin }) {
  const named = [...Object.values(exports).map((entry) => entry.default ?? entry), ...Object.values(bin)];
  return [...named.filter((path) => path.startsWith("./dist/") || path.startsWith("dist/")), ...kForRecording]
    .filter((path) => path.endsWith(".js"))
    .map((path) => relative(packageFolder, join(projectRoot, path)));
}

export async function bundlePackage() {
  const { rolldown } = await import("rolldown");
  const description = packageDescription();
  const libraries = Object.keys(description.dependencies);
  const entries = entryPoints(description);
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.js$/, ""), join(packageFolder, path)])),
    platform: "neutral",
    // What a user installs beside the package, what Node has, and the module, which finds its own .wasm.
    external: (id) =>
      id.startsWith("node:") ||
      libraries.some((library) => id === library || id.startsWith(`${library}/`)) ||
      /wasm\/poslab(?:-relaxed|-models)?\.js$/.test(id),
    resolve: { mainFields: ["module", "main"] },
  });
  const made = join(buildRoot, "bundle");
  rmSync(made, { recursive: true, force: true });
  await bundle.write({
    dir: made,
    format: "esm",
    // Beside where the modules were: they find their neighbours by import.meta.url.
    entryFileNames: "[name].js",
    chunkFileNames: "js/shared-[name].js",
    minify: false,
  });
  await bundle.close();
  for (const path of filesBelow(packageFolder)) if (path.endsWith(".js")) rmSync(path);
  for (const path of filesBelow(made)) renameSync(path, join(packageFolder, relative(made, path)));
}
