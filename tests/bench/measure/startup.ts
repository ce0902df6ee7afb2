// SPDX-License-Identifier: MIT
// A process that does one thing: from importing a library to its first attention, 8 heads of 64, L = 128. Sends the
// milliseconds that it took; the start of Node itself is left out.

import "core-js/actual/iterator/index.js";
import { pathToFileURL } from "node:url";
import type * as PosLabPackage from "poslab";
import type { AttentionProblem } from "../peers/peer.js";

const kHeads = 8;
const kLength = 128;
const kDim = 64;

function problemOf(): AttentionProblem {
  const numbers = (seed: number): Float32Array =>
    Float32Array.from({ length: kHeads * kLength * kDim }, (_, n) => Math.sin(seed + n));
  return {
    heads: kHeads,
    length: kLength,
    dim: kDim,
    causal: false,
    query: numbers(1),
    key: numbers(2),
    value: numbers(3),
    expected: new Float32Array(0),
  };
}

const starts: Record<string, (problem: AttentionProblem, packageFolder: string) => Promise<unknown>> = {
  PosLab: async ({ query, key, value }, packageFolder) => {
    const address = pathToFileURL(`${packageFolder}/js/index.js`).href;
    const { loadPosLab } = (await import(/* @vite-ignore */ address)) as typeof PosLabPackage;
    const lab = await loadPosLab();
    const tensor = (data: Float32Array) => ({ data, shape: [kHeads, kLength, kDim] });
    return lab.attention({ query: tensor(query), key: tensor(key), value: tensor(value) });
  },
  "onnxruntime-web": async (problem) => {
    const { fused } = await import("../peers/onnx.js");
    return (await fused(problem)).run();
  },
  "tfjs-wasm": async (problem) => {
    const { splitByHead, startTensorflow } = await import("../peers/tensorflow.js");
    await startTensorflow();
    return splitByHead(problem).run();
  },
  "jax-js": async (problem) => {
    const { attention, startJax } = await import("../peers/jax.js");
    await startJax();
    return attention(problem).run();
  },
};

process.once("message", ({ name, packageFolder }: { name: string; packageFolder: string }) => {
  void (async () => {
    const problem = problemOf();
    const started = performance.now();
    try {
      await starts[name]!(problem, packageFolder);
      process.send?.({ milliseconds: performance.now() - started });
    } catch (error) {
      process.send?.({ error: String(error) });
    }
    process.disconnect();
  })();
});
