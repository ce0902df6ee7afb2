// SPDX-License-Identifier: MIT
// Fetching, checking and starting a WebAssembly module, whichever it is. Node reads the file; whatever comes instead of a
// module (an HTML page from a server that answers everything) is named.

import { relaxedSimd, simd } from "wasm-feature-detect";
import { coreOf } from "./core-calls.js";
import { PosLabError, wrongArgument } from "./errors.js";
import { importNode, isNode } from "./node-import.js";

export type Variant = "simd" | "relaxed";

/** Where a module is, or its bytes. */
export type ModuleSource = string | URL | Uint8Array | ArrayBuffer;

/** Fetches and compiles; nothing is started. */
export async function compile(given: ModuleSource): Promise<WebAssembly.Module> {
  const isBytes = given instanceof Uint8Array || given instanceof ArrayBuffer;
  if (!isBytes && typeof given !== "string" && !(given instanceof URL))
    throw wrongArgument("type", "wasm", given, "a URL, bytes or a WebAssembly.Module");
  const source = isBytes ? "the bytes given as wasm" : String(given);
  const found = isBytes ? given : await readModule(given);
  if (found instanceof Response)
    return WebAssembly.compileStreaming(found).catch(failure(`${source} could not be compiled`));
  const bytes = found instanceof ArrayBuffer ? new Uint8Array(found) : found;
  checkMagic(bytes, source);
  return WebAssembly.compile(bytes as BufferSource).catch(failure(`${source} could not be compiled`));
}

/** What to do with a failure: the library's own error, with what the engine said. */
function failure(what: string): (cause: unknown) => never {
  return (cause) => {
    throw new PosLabError("load", `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  };
}

/** Starts an instance of its own, with memory of its own. */
export function start<T>(module: WebAssembly.Module, create: (options: object) => Promise<object>): Promise<T> {
  const started = new Promise<object>((resolve, reject) => {
    create({
      instantiateWasm(
        imports: WebAssembly.Imports,
        receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
      ) {
        // The glue waits for ever when its module does not come.
        WebAssembly.instantiate(module, imports)
          .then((instance) => receive(instance, module))
          .catch(reject);
        return {};
      },
      printErr: () => {},
    }).then(resolve, reject);
  });
  return started.then((core) => coreOf<T>(core), failure("the module could not be started"));
}

/** Refuses an engine that cannot run this build, before anything is fetched. */
export async function checkEngine(variant: Variant): Promise<void> {
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

/** Its bytes, or the answer of a server that says that it is a module: an engine compiles that while it arrives. */
async function readModule(address: string | URL): Promise<Uint8Array | Response> {
  const url = address instanceof URL ? address : new URL(address, globalThis.location?.href ?? import.meta.url);
  if (url.protocol === "file:" && isNode) {
    const { readFile } = await importNode("fs/promises");
    return readFile(url).catch(failure(`${url.href} could not be read`));
  }
  const lost = failure(`${url.href} could not be fetched`);
  const response = await fetch(url).catch(lost);
  if (!response.ok) {
    throw new PosLabError(
      "load",
      `${url.href} could not be fetched: the server answered ${response.status}; pass the right address as the option wasm`,
    );
  }
  // compileStreaming, where there is one, takes this type and nothing else.
  const isModule = response.headers.get("content-type") === "application/wasm";
  if (isModule && "compileStreaming" in WebAssembly) return response;
  return new Uint8Array(await response.arrayBuffer().catch(lost));
}

/**
 * A module begins with \0asm; what else arrives is mostly a page that a server sends for addresses that it does not
 * know.
 */
function checkMagic(bytes: Uint8Array, source: string): void {
  if (bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d) return;
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  const what = start.startsWith("<") ? "is an HTML page, not the WebAssembly module" : "is not a WebAssembly module";
  throw new PosLabError("load", `${source} ${what}; pass its right address (or its bytes) as the option wasm`);
}
