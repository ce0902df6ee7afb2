// SPDX-License-Identifier: MIT
// A model of any described architecture in the core's memory: tensors in by name, sequences through, whole or token by
// token. Reading files and text is the business of what stands above.

import type { CoreTransformer, ModelsCore } from "../core-interface.js";
import type { CoreModelInput } from "../core-types.js";
import { PosLabError, unwrap, wrongArgument } from "../errors.js";
import { Owner } from "../owner.js";
import { flattenScheme } from "../schemes.js";
import { checkOptions, isTypedArray, readCount, readIds, readMask, readTensor, tensorOf } from "../tensors.js";
import type { IntegerArray, Tensor } from "../types.js";
import { coreArchitecture } from "./core-architecture.js";
import type {
  Architecture,
  AttentionKind,
  MemoryEstimate,
  ModelCalls,
  ModelInput,
  PositionChange,
  TensorPlace,
} from "./model-description.js";

/** Numbers that cross into the core at a time: what is held twice of a tensor is no more than this. */
const numbersAtATime = 1 << 20;
const inputFields = [
  ...(["ids", "pixels", "attentionMask", "positions", "tokenTypes", "memory", "decoderIds"] as const),
] satisfies (keyof ModelInput)[];
const kinds: readonly AttentionKind[] = ["self", "encoder", "decoder", "cross"];

/** Token ids as the core takes them, each checked to be a whole number. */
export function readTokens(value: IntegerArray, argument: string): Int32Array {
  if (value instanceof Int32Array) return value;
  if (!isTypedArray(value) && !Array.isArray(value))
    throw wrongArgument("type", argument, value, "a list of token ids");
  const ids = new Int32Array(value.length);
  for (let index = 0; index < value.length; index += 1) {
    const given: unknown = value[index];
    const id = typeof given === "number" || typeof given === "bigint" ? Number(given) : NaN;
    if (!Number.isInteger(id) || id !== (id | 0))
      throw wrongArgument("range", `${argument}[${index}]`, given, "a token id");
    ids[index] = id;
  }
  return ids;
}

function coreInput(input: ModelInput): CoreModelInput {
  checkOptions(input, inputFields);
  const given = <Value, Result>(value: Value | null | undefined, read: (value: Value) => Result): Result | null =>
    value === undefined || value === null ? null : read(value);
  return {
    ids: given(input.ids, (ids) => readTokens(ids, "ids")),
    pixels: given(input.pixels, (pixels) => readTensor(pixels, "pixels", ["channels", "height", "width"])),
    attentionMask: given(input.attentionMask, (mask) => readMask(mask, "attentionMask")),
    positions: given(input.positions, (ids) => readIds(ids, "positions")),
    tokenTypes: given(input.tokenTypes, (ids) => readTokens(ids, "tokenTypes")),
    memory: given(input.memory, (memory) => readTensor(memory, "memory", ["layers", "M", "dim"])),
    decoderIds: given(input.decoderIds, (ids) => readTokens(ids, "decoderIds")),
  };
}

export class CoreModel extends Owner<CoreTransformer> implements ModelCalls {
  readonly architecture: Architecture;
  readonly tensors: readonly TensorPlace[];

  private constructor(core: CoreTransformer, architecture: Architecture) {
    super(core, "the model");
    this.architecture = architecture;
    this.tensors = core.tensors();
  }

  /** A model without weights. @throws PosLabError naming what is wrong with the description. */
  static create(core: ModelsCore, architecture: Architecture): CoreModel {
    return new CoreModel(unwrap(core.makeTransformer(coreArchitecture(architecture))).Transformer, architecture);
  }

  /** Bytes that `create` and a pass over `length` tokens would take; none are taken. */
  static estimate(core: ModelsCore, architecture: Architecture, length: number): MemoryEstimate {
    const { weights, pass, cachePerToken } = unwrap(
      core.estimateTransformer(coreArchitecture(architecture), readCount(length, "length")),
    );
    return { weights, pass, cachePerToken };
  }

  setTensor(name: string, numbers: Float32Array, options: { from?: number; transposed?: boolean } = {}): void {
    checkOptions(options, ["from", "transposed"]);
    const { from = 0, transposed = false } = options;
    let start = 0;
    do {
      const piece = numbers.subarray(start, start + numbersAtATime);
      unwrap(this.core.setTensor(name, piece, readCount(from, "from") + start, transposed));
      start += piece.length;
    } while (start < numbers.length);
  }

  missing(): string[] {
    return this.core.missing();
  }

  change(change: PositionChange | null): void {
    checkOptions(change ?? {}, ["position", "decoderPosition", "window", "shift"]);
    const { position, decoderPosition, window, shift } = change ?? {};
    unwrap(
      this.core.change({
        position: position ? flattenScheme(position) : null,
        decoderPosition: decoderPosition ? flattenScheme(decoderPosition, "decoderPosition") : null,
        window: window === undefined || window === null ? null : readCount(window, "window"),
        shift: readCount(shift ?? 0, "shift"),
      }),
    );
  }

  logits(input: ModelInput): Tensor {
    const { data, shape } = tensorOf(unwrap(this.core.logits(coreInput(input))));
    return this.architecture.head?.pooling === "first" ? { data, shape: shape.slice(1) } : { data, shape };
  }

  losses(input: ModelInput, targets?: IntegerArray): Float32Array {
    const core = coreInput(input);
    const read = this.architecture.encoder && this.architecture.decoder ? core.decoderIds : core.ids;
    const ids = (read ?? new Int32Array()) as Int32Array;
    const wanted = targets ? readTokens(targets, "targets") : new Int32Array(ids.length).fill(-1);
    if (!targets) wanted.set(ids.subarray(1));
    return unwrap(this.core.losses(core, wanted)).losses;
  }

  attention(input: ModelInput, layer: number, kind?: AttentionKind): Tensor {
    const { encoder, decoder } = this.architecture;
    const chosen = kind ?? (encoder && decoder ? "encoder" : "self");
    if (!kinds.includes(chosen)) throw wrongArgument("unknownName", "kind", chosen, kinds.join(", "));
    return tensorOf(unwrap(this.core.attention(coreInput(input), readCount(layer, "layer"), chosen)));
  }

  hiddenStates(): Tensor {
    if (!this.architecture.memoryLength)
      throw new PosLabError("contradiction", "hiddenStates: this model keeps no memory", { argument: "hiddenStates" });
    return tensorOf(unwrap(this.core.hiddenStates()));
  }

  encode(input: Pick<ModelInput, "ids" | "attentionMask" | "positions" | "tokenTypes">): void {
    unwrap(this.core.encode(coreInput(input)));
  }

  append(ids: IntegerArray): Float32Array {
    return unwrap(this.core.append(readTokens(ids, "ids"))).logits;
  }

  get cachedLength(): number {
    return this.core.cached();
  }

  truncate(length = 0): void {
    unwrap(this.core.truncate(readCount(length, "length")));
  }
}
