// SPDX-License-Identifier: MIT
// Builds in order: the WebAssembly module, the texts, the npm package in dist/, and the site in site/. Every step is
// skipped when its inputs have not changed; `npm run build` runs them all, and a step can be named to run it alone.

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bundlePackage } from "./bundle.mjs";
import { Stop, isMain, main, run, say } from "./commands.mjs";
import { prepareCorpora } from "./corpora.mjs";
import { adaptGlue, checkGlue } from "./glue.mjs";
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
import { withLock } from "./lock.mjs";
import { findPoems } from "./poems.mjs";
import { digestOfText, whenChanged } from "./stamps.mjs";

const kBinaries = join(nodeModules, ".bin");
const kModuleFiles = [
  ...["poslab.js", "poslab.wasm", "poslab.d.ts"],
  ...["poslab-classic.wasm", "poslab-attention.wasm"],
  ...["poslab-relaxed.js", "poslab-relaxed.wasm"],
  ...["poslab-models.js", "poslab-models.wasm", "poslab-models.d.ts"],
];
const kModuleTargets = ["", "_classic", "_attention", "_relaxed", "_models"].map((kind) => `poslab_wasm${kind}`);
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
    // Emscripten starts `tsc` to write the module's declarations.
    PATH: [join(projectRoot, "bindings/toolchain/path"), process.env.PATH].join(delimiter),
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
  const tables = ["embind.cpp", "embind_lab.cpp", "embind_models.cpp"].map((name) => `bindings/${name}`);
  const inputs = [...kToolchainInputs, "src", ...tables, "bindings/embind"];
  return whenChanged("wasm", { inputs, further: environment.POSLAB_EMSCRIPTEN_ROOT, outputs }, async () => {
    await buildPreset("wasm", { target: kModuleTargets, environment });
    mkdirSync(wasmFolder, { recursive: true });
    const made = join(buildRoot, "wasm/module");
    const glue = readFileSync(join(made, "poslab.js"), "utf8");
    for (const name of ["poslab-classic", "poslab-attention"])
      checkGlue(readFileSync(join(made, `${name}.js`), "utf8"), name, glue);
    for (const name of kModuleFiles) {
      const file = join(made, name);
      const isGlue = name.endsWith(".js");
      writeFileSync(join(wasmFolder, name), isGlue ? adaptGlue(readFileSync(file, "utf8"), name) : readFileSync(file));
    }
  });
}

async function buildCorpora() {
  const options = {
    inputs: ["bindings/toolchain", "package-lock.json"],
    // The poems may come with a later set-up.
    further: `${findPoems() !== null}`,
    outputs: [join(corporaFolder, "corpora.json")],
  };
  return whenChanged("corpora", options, prepareCorpora);
}

async function buildPackage() {
  const inputs = [
    "bindings",
    "package.json",
    "tsconfig.json",
    "tsconfig.package.json",
    "web/public/corpora/corpora.json",
  ];
  const outputs = ["js/index.js", "cli/main.js", "corpora/corpora.json"].map((path) => join(packageFolder, path));
  return whenChanged("package", { inputs, outputs }, async () => {
    rmSync(packageFolder, { recursive: true, force: true });
    await run(join(kBinaries, "tsc"), ["-p", "tsconfig.package.json"], {
      failure: "the package's TypeScript does not compile.",
    });
    await bundlePackage();
    cpSync(wasmFolder, join(packageFolder, "js/wasm"), { recursive: true });
    // The command trains on these without a file given.
    cpSync(corporaFolder, join(packageFolder, "corpora"), { recursive: true });
    copyFileSync(kNotices, join(packageFolder, "third-party-notices.txt"));
  });
}

async function buildSite() {
  const inputs = ["bindings/js", "web", "vite.config.ts", "package-lock.json", "tsconfig.json"];
  return whenChanged("site", { inputs, outputs: [join(siteFolder, "index.html")] }, async () => {
    await run(join(kBinaries, "vite"), ["build"], { failure: "the site could not be built." });
  });
}

/** In the order in which they build on each other. */
const steps = { wasm: buildWasm, corpora: buildCorpora, package: buildPackage, site: buildSite };

/** Runs the named steps, in their order; one build at a time in a clone. */
export async function build(names = Object.keys(steps)) {
  const unknown = names.find((name) => !steps[name]);
  if (unknown) throw new Stop(`there is no build step "${unknown}"; the steps are ${Object.keys(steps).join(", ")}`);
  await withLock(`build-${digestOfText(projectRoot).slice(0, 12)}`, async () => {
    for (const name of Object.keys(steps).filter((step) => names.includes(step))) {
      const started = performance.now();
      const worked = await steps[name]();
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(`${name.padEnd(9)}${worked ? `built in ${seconds} s` : "up to date"}`);
    }
  });
}

if (isMain(import.meta.url)) await main((names) => build(names.length > 0 ? names : undefined));
