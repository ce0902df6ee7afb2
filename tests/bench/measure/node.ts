// SPDX-License-Identifier: MIT
// The measurements in Node: a process of its own (it was started with relaxed SIMD allowed), which sends what it found
// to its parent. PosLab is the built package.

import "core-js/actual/iterator/index.js";
import { pathToFileURL } from "node:url";
import { relaxedSimd } from "wasm-feature-detect";
import { jax, startJax } from "../peers/jax.js";
import { loops } from "../peers/loops.js";
import { onnx } from "../peers/onnx.js";
import { startTensorflow, tensorflow } from "../peers/tensorflow.js";
import type * as PosLabPackage from "poslab";
import type { Kernels } from "./kernels.js";
import { measure } from "./measure.js";
import type { Place, Plan, Variant } from "./place.js";

// onnxruntime-web's glue makes Node's threads look like the browser's workers; jax-js would then start them, too.
Object.defineProperty(globalThis, "Worker", { get: () => undefined, set: () => {} });

/** Where the driver put things; see build.mjs. */
export interface NodeFolders {
  kernels: string;
  package: string;
}

async function importFrom(path: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(path).href);
}

async function placeOf(folders: NodeFolders): Promise<Place> {
  const { loadPosLab } = (await importFrom(`${folders.package}/js/index.js`)) as typeof PosLabPackage;
  const variants: Variant[] = (await relaxedSimd()) ? ["simd", "relaxed"] : ["simd"];
  const loaded = new Map<Variant, ReturnType<typeof loadPosLab>>();
  return {
    engine: `Node ${process.versions.node}`,
    variants,
    kernels: async (variant) => {
      const name = variant === "simd" ? "bench" : "bench-relaxed";
      const glue = (await importFrom(`${folders.kernels}/${name}.js`)) as { default: () => Promise<Kernels> };
      return glue.default();
    },
    lab: (variant) => {
      if (!loaded.has(variant)) loaded.set(variant, loadPosLab({ variant }));
      return loaded.get(variant)!;
    },
    peers: async () => {
      await startTensorflow();
      await startJax();
      return [onnx, tensorflow, jax, loops];
    },
    say: (text) => process.send?.({ say: text }),
  };
}

// When the driver is stopped, so is this.
const stop = (): void => process.exit(1);
process.once("disconnect", stop);

process.once("message", (message: { folders: NodeFolders; plan: Plan }) => {
  void (async () => {
    try {
      process.send?.({ result: await measure(await placeOf(message.folders), message.plan) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.stack : String(error) });
    }
    process.off("disconnect", stop);
    process.disconnect();
  })();
});
