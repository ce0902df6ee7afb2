// SPDX-License-Identifier: MIT
// Builds in order: the WebAssembly module, the npm package in dist/, the texts, and the site in site/. Every step is
// skipped when its inputs have not changed; `npm run build` runs them all, and a step can be named to run it alone.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Stop, isMain, main, run, say } from "./commands.mjs";
import { prepareCorpora } from "./corpora.mjs";
import { adaptGlue } from "./glue.mjs";
import { findEmscripten } from "./emscripten.mjs";
import {
  buildRoot,
  corporaFolder,
  nodeModules,
  packageFolder,
  projectRoot,
  siteFolder,
  wasmFolder,
} from "./locations.mjs";
import { whenChanged } from "./stamps.mjs";

const kBinaries = join(nodeModules, ".bin");
const kModuleFiles = ["poslab.js", "poslab.wasm", "poslab.d.ts", "poslab-relaxed.js", "poslab-relaxed.wasm"];
const kNotices = join(projectRoot, "bindings/toolchain/third-party-notices.txt");
const kToolchainInputs = ["CMakeLists.txt", "CMakePresets.json", "bindings/toolchain", "package.json"];

/** The environment in which the `wasm` preset of CMake works. */
export function wasmEnvironment() {
  const emscripten = findEmscripten();
  if (!emscripten) throw new Stop("there is no Emscripten yet: run node bindings/toolchain/setup.mjs first.");
  return {
    ...process.env,
    ...emscripten.environment,
    POSLAB_EMSCRIPTEN_ROOT: emscripten.root,
    // Emscripten starts the project's TypeScript compiler to write the module's declarations.
    PATH: [kBinaries, process.env.PATH].join(delimiter),
  };
}

/** Configures (quick when nothing changed) and builds one preset, or one target of it. */
export async function buildPreset(preset, { target, environment = process.env, definitions = [] } = {}) {
  await run("cmake", ["--preset", preset, "--log-level=WARNING", ...definitions], {
    env: environment,
    quiet: true,
    failure: `CMake could not configure "${preset}".`,
  });
  await run("cmake", ["--build", "--preset", preset, ...(target ? ["--target", ...target] : [])], {
    env: environment,
    failure: `the build "${preset}" failed; the compiler's message is above.`,
  });
}

async function buildWasm() {
  const environment = wasmEnvironment();
  const outputs = kModuleFiles.map((name) => join(wasmFolder, name));
  const inputs = [...kToolchainInputs, "src", "bindings/embind.cpp"];
  return whenChanged("wasm", { inputs, further: environment.POSLAB_EMSCRIPTEN_ROOT, outputs }, async () => {
    await buildPreset("wasm", { target: ["poslab_wasm", "poslab_wasm_relaxed"], environment });
    mkdirSync(wasmFolder, { recursive: true });
    for (const name of kModuleFiles) {
      const file = join(buildRoot, "wasm/module", name);
      const isGlue = name.endsWith(".js");
      writeFileSync(join(wasmFolder, name), isGlue ? adaptGlue(readFileSync(file, "utf8"), name) : readFileSync(file));
    }
  });
}

async function buildPackage() {
  const inputs = ["bindings", "package.json", "tsconfig.json", "tsconfig.package.json"];
  return whenChanged(
    "package",
    { inputs, outputs: [join(packageFolder, "js/index.js"), join(packageFolder, "cli/main.js")] },
    async () => {
      rmSync(packageFolder, { recursive: true, force: true });
      await run(join(kBinaries, "tsc"), ["-p", "tsconfig.package.json"], {
        failure: "the package's TypeScript does not compile.",
      });
      const target = join(packageFolder, "js/wasm");
      mkdirSync(target, { recursive: true });
      for (const name of kModuleFiles) copyFileSync(join(wasmFolder, name), join(target, name));
      copyFileSync(kNotices, join(packageFolder, "third-party-notices.txt"));
    },
  );
}

async function buildCorpora() {
  return whenChanged(
    "corpora",
    { inputs: ["bindings/toolchain", "package-lock.json"], outputs: [join(corporaFolder, "corpora.json")] },
    prepareCorpora,
  );
}

async function buildSite() {
  const inputs = ["bindings/js", "web", "vite.config.ts", "package-lock.json", "tsconfig.json"];
  return whenChanged("site", { inputs, outputs: [join(siteFolder, "index.html")] }, async () => {
    await run(join(kBinaries, "vite"), ["build"], { failure: "the site could not be built." });
  });
}

export const steps = { wasm: buildWasm, package: buildPackage, corpora: buildCorpora, site: buildSite };

export async function build(names = Object.keys(steps)) {
  for (const name of names) {
    if (!steps[name])
      throw new Stop(`there is no build step "${name}"; the steps are ${Object.keys(steps).join(", ")}`);
    const started = performance.now();
    const worked = await steps[name]();
    say(
      `${name.padEnd(9)}${worked ? `built in ${((performance.now() - started) / 1000).toFixed(1)} s` : "up to date"}`,
    );
  }
}

if (isMain(import.meta.url)) await main((names) => build(names.length > 0 ? names : undefined));
