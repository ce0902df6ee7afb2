// SPDX-License-Identifier: MIT
// The measurements on a page in Chromium; the driver calls `measureHere` and reads the console for what is under way.

import { loadPosLab } from "poslab";
import { relaxedSimd } from "wasm-feature-detect";
import { jax, startJax } from "../peers/jax.js";
import { loops } from "../peers/loops.js";
import { onnx, setOnnxFiles } from "../peers/onnx.js";
import { startTensorflow, tensorflow } from "../peers/tensorflow.js";
import type { Kernels } from "./kernels.js";
import { measure } from "./measure.js";
import type { Measurements, Plan, Variant } from "./place.js";

declare global {
  interface Window {
    measureHere: (engine: string, plan: Plan) => Promise<Measurements>;
  }
}

const folder = (name: string): string => new URL(`${name}/`, document.baseURI).href;

window.measureHere = async (engine, plan) => {
  const loaded = new Map<Variant, ReturnType<typeof loadPosLab>>();
  return measure(
    {
      engine,
      variants: (await relaxedSimd()) ? ["simd", "relaxed"] : ["simd"],
      kernels: async (variant) => {
        const name = variant === "simd" ? "bench" : "bench-relaxed";
        const glue = (await import(/* @vite-ignore */ `${folder("kernels")}${name}.js`)) as {
          default: () => Promise<Kernels>;
        };
        return glue.default();
      },
      lab: (variant) => {
        if (!loaded.has(variant)) loaded.set(variant, loadPosLab({ variant }));
        return loaded.get(variant)!;
      },
      peers: async () => {
        setOnnxFiles(folder("peers"));
        await startTensorflow(folder("peers"));
        await startJax();
        return [onnx, tensorflow, jax, loops];
      },
      say: (text) => console.log(text),
    },
    plan,
  );
};
