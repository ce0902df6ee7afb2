// SPDX-License-Identifier: MIT
// What each library adds to somebody's page: bundled as an application that computes attention would bundle it, gzip,
// and the WebAssembly file that it loads.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packageFolder } from "../../bindings/toolchain/locations.mjs";
import { benchFolder, peerModules, sizeFolder } from "./folders.mjs";

const kEntry = "bench-entry";

const libraries = [
  {
    name: "PosLab",
    code: `export { loadPosLab } from ${JSON.stringify(join(packageFolder, "js/index.js"))};`,
    wasm: join(packageFolder, "js/wasm/poslab.wasm"),
  },
  {
    name: "onnxruntime-web",
    code: 'export { InferenceSession, Tensor, env } from "onnxruntime-web/wasm";',
    wasm: join(peerModules, "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm"),
  },
  {
    name: "tfjs-wasm",
    code: `export { tensor, scalar, matMul, mul, add, softmax, stack, tidy, setBackend, ready } from "@tensorflow/tfjs-core";
export { setWasmPaths, setThreadsCount } from "@tensorflow/tfjs-backend-wasm";`,
    wasm: join(peerModules, "@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm"),
  },
  { name: "jax-js", code: 'export { init, defaultDevice, jit, numpy, nn } from "@jax-js/jax";', wasm: null },
];

/** The entry and what it imports, directly or not; what is loaded later, when it is called for, is left out. */
function firstScripts(output) {
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const found = new Set();
  const visit = (chunk) => {
    if (!chunk || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) visit(chunks.get(name));
  };
  for (const chunk of chunks.values()) if (chunk.isEntry) visit(chunk);
  return [...found];
}

/** [{ name, script, wasm, total }] in bytes after gzip. */
export async function measureSizes() {
  const { build } = await import("vite");
  const rows = [];
  for (const { name, code, wasm } of libraries) {
    const outDir = join(sizeFolder, name);
    const { output } = await build({
      configFile: false,
      root: benchFolder,
      logLevel: "error",
      plugins: [
        {
          name: kEntry,
          resolveId: (id) => (id === kEntry ? join(benchFolder, `${kEntry}.js`) : null),
          load: (id) => (id === join(benchFolder, `${kEntry}.js`) ? code : null),
        },
      ],
      build: {
        outDir,
        emptyOutDir: true,
        target: "es2022",
        assetsInlineLimit: 0,
        rollupOptions: { input: kEntry, preserveEntrySignatures: "strict" },
      },
    });
    const weigh = (bytes) => gzipSync(bytes, { level: 9 }).length;
    const script = firstScripts(output).reduce((sum, chunk) => sum + weigh(chunk.code), 0);
    const binary = wasm ? weigh(readFileSync(wasm)) : 0;
    rows.push({ name, script, wasm: binary, total: script + binary });
  }
  return rows;
}
