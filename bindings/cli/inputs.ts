// SPDX-License-Identifier: MIT
// The tensors that a computation needs: from a safetensors file, named as in conformance cases ("input.query", or plain
// "query"), or normal random numbers from a seed. What was used is remembered, so that it can be saved beside the result.

import { randomLcg, randomNormal } from "d3-random";
import type { FileTensor, TensorFile } from "../js/run-types.js";
import { readSafetensors, type TensorToWrite } from "../js/safetensors.js";
import type { Position, Tensor } from "../js/types.js";
import { Refusal } from "./failure.js";
import { readBytes } from "./files.js";

export class Inputs {
  /** Everything that went in, in the names of a case file. */
  readonly used: [string, TensorToWrite][] = [];
  /** Names of the tensors that had to be made up. */
  readonly random: string[] = [];
  readonly #file: TensorFile | null;
  readonly #path: string;
  readonly #source: () => number;

  constructor(
    path: string | undefined,
    readonly seed: number,
  ) {
    this.#path = path ?? "";
    this.#file = path === undefined ? null : readFile(path);
    this.#source = randomLcg(seed);
  }

  #find(name: string): FileTensor | undefined {
    return this.#file?.tensors.get(`input.${name}`) ?? this.#file?.tensors.get(name);
  }

  /**
   * A tensor with the named axes. `sizes` are what the options say, undefined where they say nothing; a file's tensor
   * decides then, and must agree where they do. Without a file `defaults` fill the gaps.
   */
  tensor(
    name: string,
    axes: readonly string[],
    sizes: readonly (number | undefined)[],
    defaults: readonly number[],
    options: readonly string[],
  ): Tensor {
    const found = this.#find(name);
    if (!found) {
      this.#refuseOthers(name);
      const shape = sizes.map((size, axis) => size ?? defaults[axis]!);
      return this.#make(`input.${name}`, shape);
    }
    if (found.shape.length !== axes.length) {
      throw new Refusal(
        `option '--input': ${this.#path}: ${name} has the shape [${found.shape.join(", ")}]; [${axes.join(", ")}] is needed`,
      );
    }
    sizes.forEach((size, axis) => {
      if (size !== undefined && size !== found.shape[axis]) {
        throw new Refusal(
          `option '${options[axis]}': ${size} was given, and ${name} in ${this.#path} has ${found.shape[axis]}`,
        );
      }
    });
    return this.#take(`input.${name}`, found);
  }

  /** Says on standard error what was made up. */
  sayRandom(): void {
    if (this.random.length > 0)
      process.stderr.write(`random numbers with seed ${this.seed}: ${this.random.join(", ")}\n`);
  }

  /** A file with tensors of calls, but not this one, is another one than was meant: nothing is made up beside them. */
  #refuseOthers(name: string): void {
    const others = [...(this.#file?.tensors.keys() ?? [])].filter((full) => !full.startsWith("position."));
    if (others.length > 0)
      throw new Refusal(`option '--input': ${this.#path} has ${others.join(", ")}; input.${name} is needed`);
  }

  /** Logarithms of forget gates [heads, keys]: the file's, or those of random numbers. */
  gates(heads: number, keys: number): Tensor {
    const gates = this.tensor("gates", ["heads", "keys"], [heads, keys], [heads, keys], ["--heads", "--key-length"]);
    if (this.random.includes("input.gates"))
      gates.data.forEach((number, n) => ((gates.data as Float32Array)[n] = -Math.log1p(Math.exp(-number))));
    return gates;
  }

  /** Whole numbers (positions, a mask) when the file has them. */
  integers(name: string): { data: number[]; shape: number[] } | undefined {
    const found = this.#find(name);
    if (!found) return undefined;
    const data = Array.from(found.data as ArrayLike<number | bigint>, Number);
    this.used.push([
      `input.${name}`,
      { data: BigInt64Array.from(data.map((value) => this.#whole(value, name))), shape: found.shape },
    ]);
    return { data, shape: found.shape };
  }

  #whole(value: number, name: string): bigint {
    if (!Number.isSafeInteger(value))
      throw new Refusal(`option '--input': ${this.#path}: ${name} has ${value}; whole numbers are needed`);
    return BigInt(value);
  }

  /** `position` with its learnable tensors: its own, the file's, or else those that `make` gives. */
  withParameters(position: Position, make: () => Record<string, Tensor>): Position {
    const out: Record<string, unknown> = { ...position };
    for (const [full, tensor] of this.#file?.tensors ?? []) {
      const name = /^position\.(.+)$/.exec(full)?.[1];
      if (name !== undefined && out[name] === undefined) out[name] = this.#take(full, tensor);
    }
    // A file with some of an encoding's tensors has all that it is meant to have (Shaw's keys without values).
    if (Object.keys(out).length > Object.keys(position).length) return out as unknown as Position;
    for (const [name, tensor] of Object.entries(make())) {
      out[name] = tensor;
      this.used.push([`position.${name}`, tensor]);
      this.random.push(`position.${name}`);
    }
    return out as unknown as Position;
  }

  #take(name: string, { data, shape }: FileTensor): Tensor {
    const tensor = {
      data: data instanceof Float32Array ? data : Float32Array.from(data as ArrayLike<number | bigint>, Number),
      shape,
    };
    this.used.push([name, tensor]);
    return tensor;
  }

  #make(name: string, shape: number[]): Tensor {
    const size = shape.reduce((product, extent) => product * extent, 1);
    if (size > kMostRandom)
      throw new Refusal(
        `${name} [${shape.join(", ")}] would take ${size * 4} bytes; at most ${kMostRandom * 4} are made up`,
      );
    const tensor = { data: Float32Array.from({ length: size }, randomNormal.source(this.#source)()), shape };
    this.used.push([name, tensor]);
    this.random.push(name);
    return tensor;
  }
}

/** 1 GiB of float32: more is a slip of the finger. */
const kMostRandom = 2 ** 28;

function readFile(path: string): TensorFile {
  const bytes = readBytes(path);
  try {
    return readSafetensors(bytes);
  } catch (error) {
    throw new Refusal(`option '--input': ${path}: ${(error as Error).message}`);
  }
}
