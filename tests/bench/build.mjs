// SPDX-License-Identifier: MIT
// Builds what the benchmark runs: the module of kernels/, the scripts for Node, the page for Chromium and the native
// program. Each step is skipped when its inputs have not changed.

import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build as buildProject, buildPreset, wasmEnvironment } from "../../bindings/toolchain/build.mjs";
import { say } from "../../bindings/toolchain/commands.mjs";
import { buildRoot, packageFolder } from "../../bindings/toolchain/locations.mjs";
import { whenChanged } from "../../bindings/toolchain/stamps.mjs";
import { benchFolder, kernelsFolder, nodeFolder, pageFolder, peerModules } from "./folders.mjs";

const kSources = ["CMakeLists.txt", "CMakePresets.json", "bindings/toolchain", "src", "tests/bench/kernels"];
const kScripts = [
  "bindings/js",
  "package-lock.json",
  ...["measure", "peers", "report", "build.mjs", "package-lock.json"].map((path) => `tests/bench/${path}`),
];
const kNodeEntries = ["measure/node.ts", "measure/startup.ts", "report/report.ts"];

async function buildKernels() {
  const names = ["bench", "bench-relaxed"];
  const outputs = names.flatMap((name) => [join(kernelsFolder, `${name}.js`), join(kernelsFolder, `${name}.wasm`)]);
  const environment = wasmEnvironment();
  return whenChanged("bench-kernels", { inputs: kSources, outputs }, async () => {
    await buildPreset("wasm", {
      target: ["poslab_bench_wasm", "poslab_bench_wasm_relaxed"],
      definitions: ["-DPOSLAB_BENCH=ON"],
      environment,
    });
    mkdirSync(kernelsFolder, { recursive: true });
    for (const name of names) {
      for (const file of [`${name}.js`, `${name}.wasm`])
        copyFileSync(join(buildRoot, "wasm/module", file), join(kernelsFolder, file));
    }
  });
}

async function buildForNode() {
  const outputs = [join(nodeFolder, "node.js")];
  return whenChanged("bench-node", { inputs: kScripts, outputs }, async () => {
    const { build } = await import("vite");
    await build({
      configFile: false,
      root: benchFolder,
      logLevel: "warn",
      build: {
        ssr: true,
        outDir: nodeFolder,
        emptyOutDir: true,
        target: "node20",
        rollupOptions: {
          input: kNodeEntries.map((path) => join(benchFolder, path)),
          output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
        },
      },
    });
  });
}

/** The page: the built package, the peers, and their WebAssembly files beside it. */
async function buildPage() {
  const options = { inputs: [...kSources, ...kScripts], outputs: [join(pageFolder, "index.html")] };
  return whenChanged("bench-page", options, async () => {
    const { build } = await import("vite");
    await build({
      configFile: false,
      root: join(benchFolder, "page"),
      base: "./",
      logLevel: "error",
      resolve: {
        alias: [
          { find: /^poslab$/, replacement: join(packageFolder, "js/index.js") },
          // Without the graphics back ends, and with its glue inside.
          { find: /^onnxruntime-web$/, replacement: join(peerModules, "onnxruntime-web/dist/ort.wasm.bundle.min.mjs") },
        ],
      },
      build: { outDir: pageFolder, emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
    });
    cpSync(kernelsFolder, join(pageFolder, "kernels"), { recursive: true });
    const files = [
      ["onnxruntime-web/dist", /^ort-wasm-simd-threaded\.(mjs|wasm)$/],
      ["@tensorflow/tfjs-backend-wasm/dist", /\.wasm$/],
    ];
    for (const [folder, pattern] of files) {
      cpSync(join(peerModules, folder), join(pageFolder, "peers"), {
        recursive: true,
        filter: (path) => path === join(peerModules, folder) || pattern.test(path.split("/").at(-1)),
      });
    }
  });
}

async function buildNative() {
  const outputs = [join(buildRoot, "bench/poslab_bench")];
  return whenChanged("bench-native", { inputs: kSources, outputs }, () =>
    buildPreset("bench", { target: ["poslab_bench"] }),
  );
}

/** Everything for the named places. */
export async function buildFor(places, topics) {
  await buildProject(["wasm", "corpora", "package"]);
  const kernels = topics.some((topic) => !["startup", "size"].includes(topic));
  const steps = [
    ["kernels", kernels && places.some((place) => place !== "native"), buildKernels],
    ["scripts", true, buildForNode],
    ["page", kernels && places.includes("chromium"), buildPage],
    ["native", kernels && places.includes("native"), buildNative],
  ];
  for (const [name, wanted, step] of steps) {
    if (!wanted) continue;
    const started = performance.now();
    const worked = await step();
    say(
      `${name.padEnd(9)}${worked ? `built in ${((performance.now() - started) / 1000).toFixed(1)} s` : "up to date"}`,
    );
  }
}
