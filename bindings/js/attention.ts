// SPDX-License-Identifier: MIT
// "poslab/attention": encodings and attention alone, for pages that train nothing and open no checkpoint. A module and a
// typed layer of their own, about half of what "poslab" loads, with the same numbers.
//
//   import { loadAttention } from "poslab/attention";
//   const lab = await loadAttention();
//   const { output } = lab.attention({ query, key, value, position: { type: "alibi" }, mask: { causal: true } });

import { AttentionLab } from "./attention-lab.js";
import type { AttentionCore } from "./core-interface.js";
import { checkOptions } from "./tensors.js";
import { checkEngine, compile, type ModuleSource, start } from "./wasm-module.js";
import createCore from "./wasm/poslab.js";

/**
 * Loads the module of encodings and attention with the ten classic schemes: none, sinusoidal, learned, shaw,
 * transformer-xl, t5, rope, alibi, xpos and kerple (`loadPosLab` of "poslab" has the others, training and the rest). Each
 * call makes an instance with memory of its own.
 * @param options.wasm where the module is, or its bytes, or the compiled module (to be shared with workers). Default:
 * beside this file
 * @throws PosLabError (load) when the module cannot be had, says where from and what came instead.
 */
export async function loadAttention(options: { wasm?: ModuleSource | WebAssembly.Module } = {}): Promise<AttentionLab> {
  checkOptions(options, ["wasm"]);
  await checkEngine("simd");
  const { wasm = new URL("./wasm/poslab-attention.wasm", import.meta.url) } = options;
  const module = wasm instanceof WebAssembly.Module ? wasm : await compile(wasm);
  return new AttentionLab(await start<AttentionCore>(module, createCore), "simd");
}

export type { AttentionLab } from "./attention-lab.js";
export { type ErrorCode, PosLabError } from "./errors.js";
export type * from "./types.js";
export type { BiasExportOptions, Exported, ExportProgram, RotationExportOptions } from "./export.js";
export type { NarrowType, PrecisionReport, TypePrecision } from "./precision.js";
export type { PositionIdOptions, PositionPolicy } from "./position-ids.js";
