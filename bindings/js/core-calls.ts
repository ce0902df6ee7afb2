// SPDX-License-Identifier: MIT
// Calls into the module. Embind offers every call as a function of one number, the address of its arguments in the
// module's memory; here arguments are written there and the answer is read, in the form of bindings/embind/message.h.
// Nothing here knows a call: what each takes and gives is core-interface.ts.

import type { Failure, Outcome } from "./core-types.js";
import { PosLabError } from "./errors.js";

/** The kinds of values, in the order of message.h. */
const kinds = {
  null: 0,
  truth: 1,
  number: 2,
  text: 3,
  floats: 4,
  ints: 5,
  bytes: 6,
  doubles: 7,
  list: 8,
  object: 9,
  handle: 10,
  end: 11,
} as const;

const arrays = [Float32Array, Int32Array, Uint8Array, Float64Array] as const;

/** What Embind and Emscripten offer. */
interface RawModule {
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  reserve(bytes: number): number;
  answer(): number;
  release(message: number): void;
  [call: string]: unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const roundedUp = (at: number, step: number): number => Math.ceil(at / step) * step;

/** An object of the module: its methods are the calls that begin with its name. */
class Handle {
  constructor(
    readonly owner: Calls,
    readonly address: number,
  ) {}
}

/**
 * Writes a value at an address, or only counts when there is no memory yet. Arrays of floats, 32-bit integers and bytes
 * keep their kind; all other numbers are doubles.
 * @returns the address after it
 */
function write(owner: Calls, value: unknown, at: number, memory: DataView<ArrayBuffer> | null): number {
  const head = (kind: number, count: number): number => {
    memory?.setUint32(at, kind, true);
    memory?.setUint32(at + 4, count, true);
    return at + 8;
  };
  if (value === null || value === undefined) return head(kinds.null, 0);
  if (typeof value === "boolean") return head(kinds.truth, Number(value));
  if (typeof value === "number") {
    head(kinds.number, 0);
    memory?.setFloat64(at + 8, value, true);
    return at + 16;
  }
  if (typeof value === "string") {
    const bytes = encoder.encode(value);
    head(kinds.text, bytes.length);
    if (memory) new Uint8Array(memory.buffer, at + 8).set(bytes);
    return roundedUp(at + 8 + bytes.length, 8);
  }
  if (value instanceof Handle) {
    if (value.owner !== owner)
      throw new PosLabError("contradiction", "what another instance of the module made cannot be used in this one");
    return head(kinds.handle, value.address);
  }
  if (Array.isArray(value) ? value.every((entry) => typeof entry === "number") : ArrayBuffer.isView(value)) {
    const numbers = value as unknown as ArrayLike<number>;
    const same = arrays.findIndex((kind) => value instanceof kind);
    const kind = same < 0 ? 3 : same;
    const first = roundedUp(head(kinds.floats + kind, numbers.length), 16);
    if (memory) new arrays[kind]!(memory.buffer, first, numbers.length).set(numbers);
    return roundedUp(first + numbers.length * arrays[kind]!.BYTES_PER_ELEMENT, 8);
  }
  if (Array.isArray(value)) {
    let end = head(kinds.list, value.length);
    for (const entry of value) end = write(owner, entry, end, memory);
    return end;
  }
  const fields = Object.entries(value);
  let end = head(kinds.object, fields.length);
  for (const [name, entry] of fields) end = write(owner, entry, write(owner, name, end, memory), memory);
  return end;
}

/** Reads an answer; arrays are copies. */
class Reader {
  readonly #owner: Calls;
  readonly #memory: DataView<ArrayBuffer>;
  #at: number;

  constructor(owner: Calls, buffer: ArrayBuffer, at: number) {
    this.#owner = owner;
    this.#memory = new DataView(buffer);
    this.#at = at;
  }

  #skip(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    return at;
  }

  /** @param name of the field that the value is of */
  read(name = ""): unknown {
    const at = this.#skip(8);
    const memory = this.#memory;
    const kind = memory.getUint32(at, true);
    const count = memory.getUint32(at + 4, true);
    switch (kind) {
      case kinds.null:
        return null;
      case kinds.truth:
        return count !== 0;
      case kinds.number:
        return memory.getFloat64(this.#skip(8), true);
      case kinds.text:
        return decoder.decode(new Uint8Array(memory.buffer, this.#skip(roundedUp(count, 8)), count));
      case kinds.list: {
        const list: unknown[] = [];
        while (!this.#ends()) list.push(this.read());
        return list;
      }
      case kinds.object: {
        const object: Record<string, unknown> = {};
        while (!this.#ends()) {
          const field = this.read() as string;
          object[field] = this.read(field);
        }
        return object;
      }
      case kinds.handle:
        return this.#owner.handle(name, count);
      default: {
        const first = memory.getUint32(this.#skip(8), true);
        // Empty arrays have no address.
        return count === 0
          ? new arrays[kind - kinds.floats]!()
          : new arrays[kind - kinds.floats]!(memory.buffer, first, count).slice();
      }
    }
  }

  #ends(): boolean {
    if (this.#memory.getUint32(this.#at, true) !== kinds.end) return false;
    this.#skip(8);
    return true;
  }
}

/** The calls of one module, and the kinds of objects that it makes. */
class Calls {
  readonly module: RawModule;
  readonly kinds = new Map<string, new (owner: Calls, address: number) => Handle>();

  constructor(module: RawModule) {
    this.module = module;
  }

  call(name: string, given: readonly unknown[]): unknown {
    const { module } = this;
    const size = given.reduce<number>((at, value) => write(this, value, at, null), 0);
    const message = module.reserve(roundedUp(size, 16));
    if (message === 0 && size > 0) return { failure: noMemory(name, size) } satisfies Outcome<object>;
    try {
      const memory = new DataView(module.HEAPU8.buffer);
      given.reduce<number>((at, value) => write(this, value, at, memory), message);
      (module[name] as (message: number) => void)(message);
      return new Reader(this, module.HEAPU8.buffer, module.answer()).read();
    } finally {
      module.release(message);
    }
  }

  /** @param kind its name, as in the names of its calls */
  handle(kind: string, address: number): Handle {
    return new (this.kinds.get(kind) ?? Handle)(this, address);
  }

  /** `call` as a method: of the module, or of a kind of objects when its name begins with that. */
  offer(name: string, core: Record<string, unknown>): void {
    const [kind, method] = name.split("_") as [string, string | undefined];
    if (method === undefined) {
      core[name] = (...given: unknown[]) => this.call(name, given);
      return;
    }
    if (!this.kinds.has(kind)) this.kinds.set(kind, class extends Handle {});
    const { call } = this;
    Object.defineProperty(this.kinds.get(kind)!.prototype, method, {
      value(this: Handle, ...given: unknown[]) {
        return call.call(this.owner, name, [this, ...given]);
      },
    });
  }
}

function noMemory(argument: string, bytes: number): Failure {
  const allowed = "at most the memory that is left (wasm32 has 4 GiB in all)";
  return { code: "memory", argument, given: "", givenNumber: bytes, allowed, limits: [0, 0, 0], suggestion: "" };
}

/** The module as an object whose methods are its calls. */
export function coreOf<Core>(module: object): Core {
  const raw = module as RawModule;
  const calls = new Calls(raw);
  const core: Record<string, unknown> = {};
  for (const name of Object.keys(raw)) if (typeof raw[name] === "function") calls.offer(name, core);
  return Object.defineProperty(core, "memory", { get: () => raw.HEAPU8.buffer }) as Core;
}
