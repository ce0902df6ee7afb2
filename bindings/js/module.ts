// SPDX-License-Identifier: MIT
// Which WebAssembly module it is to be: the default addresses are literals that bundlers see.

import type { Core, ModelsCore } from "./core-interface.js";
import { PosLabError, wrongArgument } from "./errors.js";
import { checkOptions } from "./tensors.js";
import { checkEngine, compile, type ModuleSource, start, type Variant } from "./wasm-module.js";
import createSimdCore from "./wasm/poslab.js";

export type { Core, ModelsCore } from "./core-interface.js";
export type { Variant } from "./wasm-module.js";

export interface LoadOptions {
  /**
   * "simd" (default): the same numbers on every machine. "relaxed": fused multiply-adds where the machine has them;
   * faster, not the same to the bit everywhere, and not in every engine (Safari, Node 20).
   */
  variant?: Variant;
  /**
   * "all" (default), or "classic": a smaller module with the ten schemes none, sinusoidal, learned, shaw, transformer-xl,
   * t5, rope, alibi, xpos and kerple, which gives the same numbers.
   */
  schemes?: "all" | "classic";
  /**
   * Where the module is, or its bytes, or the compiled module (to be shared with workers). Default: beside this file.
   */
  wasm?: ModuleSource | WebAssembly.Module;
}

export interface CompiledModule {
  module: WebAssembly.Module;
  variant: Variant;
}

/** Fetches and compiles the module; nothing is started. Compiled modules can be posted to workers. */
export async function compileModule(options: LoadOptions = {}): Promise<CompiledModule> {
  checkOptions(options, ["variant", "schemes", "wasm"]);
  const variant = options.variant ?? "simd";
  if (variant !== "simd" && variant !== "relaxed")
    throw wrongArgument("unknownName", "variant", variant, '"simd" or "relaxed"');
  const schemes = options.schemes ?? "all";
  if (schemes !== "all" && schemes !== "classic")
    throw wrongArgument("unknownName", "schemes", schemes, '"all" or "classic"');
  if (schemes === "classic" && variant === "relaxed")
    throw wrongArgument("contradiction", "schemes", schemes, 'with variant "relaxed" only "all"');
  if (options.wasm instanceof WebAssembly.Module) return { module: options.wasm, variant };
  await checkEngine(variant);
  const module = await compile(
    options.wasm ??
      (variant === "relaxed"
        ? new URL("./wasm/poslab-relaxed.wasm", import.meta.url)
        : schemes === "classic"
          ? new URL("./wasm/poslab-classic.wasm", import.meta.url)
          : new URL("./wasm/poslab.wasm", import.meta.url)),
  );
  return { module, variant };
}

/** Starts an instance of its own, with memory of its own. */
export async function startModule({ module, variant }: CompiledModule): Promise<Core> {
  const core = await start<Partial<Core>>(module, variant === "relaxed" ? await importRelaxed() : createSimdCore);
  if (!core.makeRun)
    throw new PosLabError("load", 'the module has no training in it; poslab-attention.wasm is for "poslab/attention"');
  return core as Core;
}

let modelsModule: Promise<WebAssembly.Module> | undefined;

/**
 * Starts a module that runs whole architectures, with memory of its own: up to 4 GiB for each, all of it given back when
 * nothing refers to it any more. It is the plain SIMD build whatever the variant of `lab` is. Compiled once.
 */
export async function startModelsCore(): Promise<ModelsCore> {
  await checkEngine("simd");
  modelsModule ??= compile(new URL("./wasm/poslab-models.wasm", import.meta.url));
  const [module, glue] = await Promise.all([
    modelsModule.catch((error: unknown) => {
      modelsModule = undefined; // the next call tries again
      throw error;
    }),
    import("./wasm/poslab-models.js"),
  ]);
  return start(module, glue.default);
}

async function importRelaxed(): Promise<typeof createSimdCore> {
  // "as string": Emscripten writes declarations for the SIMD build only; the interface is the same. Bundlers see the
  // literal.
  const glue = (await import("./wasm/poslab-relaxed.js" as string)) as { default: typeof createSimdCore };
  return glue.default;
}
