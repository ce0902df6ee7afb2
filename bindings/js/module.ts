// SPDX-License-Identifier: MIT
// Finding, checking and starting the WebAssembly module. The default address is a literal that bundlers see; Node reads
// the file; whatever comes instead of a module (an HTML page from a server that answers everything) is named.

import { relaxedSimd, simd } from "wasm-feature-detect";
import { coreOf } from "./core-calls.js";
import type { Core, ModelsCore } from "./core-interface.js";
import { PosLabError, wrongArgument } from "./errors.js";
import { importNode, isNode } from "./node-import.js";
import { checkOptions } from "./tensors.js";
import createSimdCore from "./wasm/poslab.js";

export type { Core, ModelsCore } from "./core-interface.js";
export type Variant = "simd" | "relaxed";

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
  wasm?: string | URL | Uint8Array | ArrayBuffer | WebAssembly.Module;
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

async function compile(given: string | URL | Uint8Array | ArrayBuffer): Promise<WebAssembly.Module> {
  const isBytes = given instanceof Uint8Array || given instanceof ArrayBuffer;
  if (!isBytes && typeof given !== "string" && !(given instanceof URL))
    throw wrongArgument("type", "wasm", given, "a URL, bytes or a WebAssembly.Module");
  const bytes = isBytes ? (given instanceof ArrayBuffer ? new Uint8Array(given) : given) : await readModule(given);
  const source = isBytes ? "the bytes given as wasm" : String(given);
  checkMagic(bytes, source);
  try {
    return await WebAssembly.compile(bytes as BufferSource);
  } catch (cause) {
    throw new PosLabError(
      "load",
      `${source} could not be compiled: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** Starts an instance of its own, with memory of its own. */
export async function startModule({ module, variant }: CompiledModule): Promise<Core> {
  return start(module, variant === "relaxed" ? await importRelaxed() : createSimdCore);
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

function start<T>(module: WebAssembly.Module, create: (options: object) => Promise<object>): Promise<T> {
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => {
      reject(
        new PosLabError(
          "load",
          `the module could not be started: ${cause instanceof Error ? cause.message : String(cause)}`,
          { cause },
        ),
      );
    };
    create({
      instantiateWasm(
        imports: WebAssembly.Imports,
        receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ) {
        WebAssembly.instantiate(module, imports)
          .then((instance) => receive(instance, module))
          .catch(failed);
        return {};
      },
      print: () => {},
      printErr: () => {},
    }).then((started) => resolve(coreOf<T>(started)), failed);
  });
}

async function importRelaxed(): Promise<typeof createSimdCore> {
  // "as string": Emscripten writes declarations for the SIMD build only; the interface is the same. Bundlers see the
  // literal.
  const glue = (await import("./wasm/poslab-relaxed.js" as string)) as { default: typeof createSimdCore };
  return glue.default;
}

async function checkEngine(variant: Variant): Promise<void> {
  if (typeof WebAssembly === "undefined")
    throw new PosLabError("load", "this engine has no WebAssembly, which PosLab is made of");
  if (!(await simd())) {
    throw new PosLabError(
      "load",
      "this engine has no WebAssembly SIMD, which PosLab needs (Chrome 91, Firefox 89, Safari 16.4, Node 16.4 or newer)",
    );
  }
  if (variant === "relaxed" && !(await relaxedSimd())) {
    throw new PosLabError(
      "load",
      'this engine has no relaxed SIMD; variant "simd" works everywhere (Node 20 has it behind --experimental-wasm-relaxed-simd)',
    );
  }
}

async function readModule(address: string | URL): Promise<Uint8Array> {
  const url = address instanceof URL ? address : new URL(address, globalThis.location?.href ?? import.meta.url);
  if (url.protocol === "file:" && isNode) {
    const { readFile } = await importNode("fs/promises");
    try {
      return await readFile(url);
    } catch (cause) {
      throw new PosLabError(
        "load",
        `${url.href} could not be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new PosLabError(
      "load",
      `${url.href} could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  if (!response.ok) {
    throw new PosLabError(
      "load",
      `${url.href} could not be fetched: the server answered ${response.status}; pass the right address as loadPosLab({ wasm })`,
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * A module begins with \0asm; what else arrives is mostly a page that a server sends for addresses that it does not
 * know.
 */
function checkMagic(bytes: Uint8Array, source: string): void {
  if (bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d) return;
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  const what = start.startsWith("<") ? "is an HTML page, not the WebAssembly module" : "is not a WebAssembly module";
  throw new PosLabError("load", `${source} ${what}; pass its right address (or its bytes) as loadPosLab({ wasm })`);
}
