// SPDX-License-Identifier: MIT
// Every encoding and the attention that uses them as functions on plain typed arrays. Results are copies that are the
// caller's own; every wrong input is a PosLabError and leaves the module usable.

import type { AttentionCore } from "./core-interface.js";
import { PosLabError, unwrap, wrongArgument } from "./errors.js";
import type { BiasExportOptions, Exported, RotationExportOptions } from "./export.js";
import { type PositionIdOptions, positionIds, type PositionPolicy } from "./position-ids.js";
import type { PrecisionReport } from "./precision.js";
import { flattenScheme } from "./schemes.js";
import {
  checkOptions,
  readCount,
  readIds,
  readMask,
  readNatural,
  readPositions,
  readTensor,
  readTruth,
  tensorOf,
} from "./tensors.js";
import type {
  AttentionGradientOptions,
  AttentionGradientResult,
  AttentionOptions,
  AttentionResult,
  Distances,
  Frequencies,
  Info,
  IntegerArray,
  Mask,
  Position,
  PositionArray,
  SchemeInfo,
  Tensor,
  TensorLike,
} from "./types.js";
import type { Variant } from "./wasm-module.js";

const attentionFields = [
  "query",
  "key",
  "value",
  "position",
  "mask",
  "keyMask",
  "queryPositions",
  "keyPositions",
  "distances",
  "scale",
  "gates",
  "sinks",
  "weights",
  "scores",
  "logSumExp",
] as const;

/** Made by `loadAttention`, and the part of what `loadPosLab` makes that trains nothing. */
export class AttentionLab {
  readonly info: Info;
  readonly #core: AttentionCore;

  /** @internal */
  constructor(core: AttentionCore, variant: Variant) {
    this.#core = core;
    const schemes = core.schemes().map((scheme): SchemeInfo => ({
      ...scheme,
      hooks: scheme.hooks.split(" ").filter(Boolean) as SchemeInfo["hooks"],
    }));
    this.info = Object.freeze({ version: core.version(), variant, schemes });
  }

  /**
   * The learnable tensors of a scheme as training would start them, by name; empty for schemes that learn nothing. With
   * them a scheme is complete: `{ ...position, ...lab.startParameters(position, { heads: 4, headDim: 16 }) }`.
   * @param options.heads, headDim, dim, length what the tensors' shapes depend on: heads, the width of a head, the width
   * of a token's vector and the trained length; what a scheme needs and is not given is an error that names it. With
   * `dim`, "forgetting" also has the tensors that make gates from tokens' vectors; `attention` takes the gates themselves
   * @param options.seed of the draw, default 1
   */
  startParameters(
    position: Position,
    options: { heads?: number; headDim?: number; dim?: number; length?: number; seed?: number } = {},
  ): Record<string, Tensor> {
    checkOptions(options, ["heads", "headDim", "dim", "length", "seed"]);
    const { heads = 0, headDim = 0, dim = 0, length = 0, seed = 1 } = options;
    const sizes = {
      heads: readCount(heads, "heads"),
      headDim: readCount(headDim, "headDim"),
      dim: readCount(dim, "dim"),
      length: readCount(length, "length"),
    };
    const { tensors } = unwrap(this.#core.startParameters(flattenScheme(position), sizes, readCount(seed, "seed")));
    return Object.fromEntries(tensors.map((tensor) => [tensor.name, tensorOf(tensor)]));
  }

  /** What the module says of the scheme; undefined where the name is not known, which the core says. */
  #schemeOf(position: Position | null | undefined): SchemeInfo | undefined {
    return this.info.schemes.find(({ type }) => type === position?.type);
  }

  /** Refuses a scheme without the hook that a call is about, and says which have it. */
  #needs(hook: "embedding" | "rotation", position: Position, what: string): void {
    const named = this.#schemeOf(position);
    if (!named || named.hooks.includes(hook)) return;
    const others = this.info.schemes.filter(({ hooks }) => hooks.includes(hook)).map(({ type }) => type);
    throw wrongArgument("contradiction", "position", named.type, `a scheme that ${what} (${others.join(", ")})`);
  }

  /** Rows start, start + 1, ... of an embedding scheme: [length, dim]. */
  table(position: Position, options: { length: number; dim: number; start?: number }): Tensor {
    checkOptions(options, ["length", "dim", "start"]);
    this.#needs("embedding", position, "adds a table to tokens");
    const { length, dim, start = 0 } = options;
    return tensorOf(
      unwrap(
        this.#core.table(
          flattenScheme(position),
          readCount(length, "length"),
          readCount(dim, "dim"),
          readCount(start, "start"),
        ),
      ),
    );
  }

  /**
   * The rotation frequencies of a rotating scheme, in double.
   * @param options.length the running length (largest position + 1) that dynamic and longrope scalings look at; default
   * 0
   */
  frequencies(position: Position, options: { headDim: number; length?: number }): Frequencies {
    checkOptions(options, ["headDim", "length"]);
    const outcome = this.#core.frequencies(
      flattenScheme(position),
      readCount(options.headDim, "headDim"),
      readCount(options.length ?? 0, "length"),
    );
    const { inverseFrequencies, attentionFactor } = unwrap(outcome);
    return { inverseFrequencies, attentionFactor };
  }

  /**
   * x [heads, length, headDim], each row turned by its position: `positions`, or `start` and on (default 0).
   * @param options.inverse turn back instead, attention factor included: undoes the same call without it. A key that was
   * turned at one place, or under one scaling, is moved to another by turning it back and turning it anew.
   * @param options.length the running length that dynamic and longrope scalings look at; default the largest position + 1
   */
  rotate(
    x: TensorLike,
    position: Position,
    options: { positions?: PositionArray; start?: number; inverse?: boolean; length?: number } = {},
  ): Tensor {
    checkOptions(options, ["positions", "start", "inverse", "length"]);
    this.#needs("rotation", position, "rotates");
    const { positions, start = 0, inverse = false, length = 0 } = options;
    if (positions !== undefined && options.start !== undefined)
      throw wrongArgument("contradiction", "start", start, "either positions or start, not both,");
    readTruth(inverse, "inverse");
    const rows = readTensor(x, "x", ["heads", "length", "headDim"]);
    const ids = positions === undefined ? null : readPositions(positions, "positions");
    const how = { start: readCount(start, "start"), inverse, length: readNatural(length, "length") };
    return tensorOf(unwrap(this.#core.rotate(flattenScheme(position), rows, ids, how)));
  }

  /** The slope of each head of a scheme whose bias is -slope * |i - j|: [heads]. */
  slopes(position: Position, options: { heads: number }): Float32Array {
    checkOptions(options, ["heads"]);
    return unwrap(this.#core.slopes(flattenScheme(position), readCount(options.heads, "heads"))).data;
  }

  /** The bucket of each distance j - i, for schemes that have buckets. */
  buckets(position: Position, distances: IntegerArray): Int32Array {
    const { bytes } = unwrap(this.#core.buckets(flattenScheme(position), readIds(distances, "distances")));
    return Int32Array.from(new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8), Number);
  }

  /**
   * What a scheme adds to the logits, where that depends on head and distance alone: [heads, queryLength, keyLength].
   * Query i stands at i + (keyLength - queryLength) and key j at j unless positions are given.
   */
  bias(
    position: Position,
    options: {
      heads: number;
      queryLength: number;
      keyLength: number;
      queryPositions?: PositionArray;
      keyPositions?: PositionArray;
    },
  ): Tensor {
    checkOptions(options, ["heads", "queryLength", "keyLength", "queryPositions", "keyPositions"]);
    const { queryPositions, keyPositions } = options;
    return tensorOf(
      unwrap(
        this.#core.bias(
          flattenScheme(position),
          readCount(options.heads, "heads"),
          readCount(options.queryLength, "queryLength"),
          readCount(options.keyLength, "keyLength"),
          queryPositions === undefined ? null : readPositions(queryPositions, "queryPositions"),
          keyPositions === undefined ? null : readPositions(keyPositions, "keyPositions"),
        ),
      ),
    );
  }

  /**
   * softmax(scale * q k^T + what the scheme adds) v. Rows that see no key are zeros. No L x L matrix is made unless
   * asked for.
   */
  attention(options: AttentionOptions): AttentionResult {
    checkOptions(options, attentionFields);
    const result = unwrap(
      this.#core.attention(
        flattenScheme(options.position ?? { type: "none" }),
        readCall(options, this.#schemeOf(options.position ?? { type: "none" })),
      ),
    );
    return {
      output: tensorOf(result.output),
      ...(result.weights ? { weights: tensorOf(result.weights) } : {}),
      ...(result.scores ? { scores: tensorOf(result.scores) } : {}),
      ...(result.logSumExp ? { logSumExp: tensorOf(result.logSumExp) } : {}),
    };
  }

  /** Gradients of attention for a gradient of its output, the scheme's learnable tensors included. */
  attentionGradients(options: AttentionGradientOptions): AttentionGradientResult {
    checkOptions(options, [...attentionFields, "outputGradient"]);
    const outputGradient = readTensor(options.outputGradient, "outputGradient", ["heads", "queries", "valueDim"]);
    const call = { ...readCall(options, this.#schemeOf(options.position ?? { type: "none" })), outputGradient };
    const output = [call.query.shape[0], call.query.shape[1], call.value.shape[2]];
    if (outputGradient.shape.join() !== output.join())
      throw wrongArgument("shape", "outputGradient", outputGradient.shape, `the output's shape [${output.join(", ")}]`);
    const result = unwrap(this.#core.attentionGradients(flattenScheme(options.position ?? { type: "none" }), call));
    return {
      query: tensorOf(result.query),
      key: tensorOf(result.key),
      value: tensorOf(result.value),
      position: Object.fromEntries(result.position.map((tensor) => [tensor.name, tensorOf(tensor)])),
      ...(result.gates ? { gates: tensorOf(result.gates) } : {}),
      ...(result.sinks ? { sinks: tensorOf(result.sinks) } : {}),
    };
  }

  /**
   * Position ids by a policy: "plain", "mask" (padding left out), "packed" (documents in one row), "randomized", "shift",
   * "pose" (chunks skipped). For `positions`, `queryPositions` and `keyPositions` of the other calls.
   */
  positions<P extends PositionPolicy>(policy: P, options: PositionIdOptions[P]): number[] {
    return positionIds(this.#core, policy, options);
  }

  /**
   * What narrow types do to a rotation up to `length`: where ids and angles become equal, and the worst error of cosine
   * and sine pair by pair, for float32 (as transformers computes), bfloat16 and float16. Loaded when called.
   */
  async precision(position: Position, options: { headDim: number; length: number }): Promise<PrecisionReport> {
    checkOptions(options, ["headDim", "length"]);
    return (await import("./precision.js")).precisionReport(this, position, options);
  }

  /**
   * A rotation as another program takes it: cos and sin caches of ONNX's RotaryEmbedding, flash-attention or transformers, or
   * the numbers and frequency factors of ggml_rope_ext. Loaded when called.
   */
  async exportRotation(position: Position, options: RotationExportOptions): Promise<Exported> {
    checkOptions(options, ["program", "headDim", "length", "runningLength"]);
    return (await import("./export.js")).exportRotation(this, position, options);
  }

  /**
   * A bias as another program takes it: the mask of ONNX's Attention or of transformers, a tensor to add in ggml, or
   * flash-attention's slopes. Loaded when called.
   */
  async exportBias(position: Position, options: BiasExportOptions): Promise<Exported> {
    checkOptions(options, ["program", "heads", "queryLength", "keyLength", "causal"]);
    return (await import("./export.js")).exportBias(this, position, options);
  }
}

function readCall(
  options: AttentionOptions,
  scheme: SchemeInfo | undefined,
): Parameters<AttentionCore["attention"]>[1] {
  if (options.gates !== undefined && scheme && !scheme.gates)
    throw new PosLabError("contradiction", `gates: left out for ${scheme.type}, which has none`, {
      argument: "gates",
    });
  const mask: Mask = options.mask ?? {};
  checkOptions(mask, ["causal", "alignment", "window", "documents"], "mask");
  const { causal = false, alignment = "bottom-right", window, documents } = mask;
  readTruth(causal, "mask.causal");
  if (alignment !== "bottom-right" && alignment !== "top-left")
    throw wrongArgument("unknownName", "mask.alignment", alignment, '"bottom-right" or "top-left"');
  if (options.scale !== undefined && typeof options.scale !== "number")
    throw wrongArgument("type", "scale", options.scale, "a number");
  return {
    query: readTensor(options.query, "query", ["heads", "queries", "headDim"]),
    key: readTensor(options.key, "key", ["keyValueHeads", "keys", "headDim"]),
    value: readTensor(options.value, "value", ["keyValueHeads", "keys", "valueDim"]),
    causal,
    topLeft: alignment === "top-left",
    window: window === undefined ? null : readCount(window, "mask.window"),
    documents: documents === undefined ? null : readIds(documents, "mask.documents"),
    scale: options.scale ?? null,
    gates: options.gates === undefined ? null : readTensor(options.gates, "gates", ["heads", "keys"]),
    sinks: options.sinks === undefined ? null : readTensor(options.sinks, "sinks", ["heads"]),
    keyMask: options.keyMask === undefined ? null : readMask(options.keyMask, "keyMask"),
    queryPositions:
      options.queryPositions === undefined ? null : readPositions(options.queryPositions, "queryPositions"),
    keyPositions: options.keyPositions === undefined ? null : readPositions(options.keyPositions, "keyPositions"),
    distances: options.distances === undefined ? null : readDistances(options.distances),
    weights: readTruth(options.weights ?? false, "weights"),
    scores: readTruth(options.scores ?? false, "scores"),
    logSumExp: readTruth(options.logSumExp ?? false, "logSumExp"),
  };
}

function readDistances(distances: Distances): { policy: string; window: number; group: number } {
  checkOptions(distances, ["policy", "window", "group"], "distances");
  const { policy } = distances;
  if (policy !== "grouped" && policy !== "clamped")
    throw wrongArgument("unknownName", "distances.policy", policy, '"grouped" or "clamped"');
  if (policy === "clamped") checkOptions(distances, ["policy", "window"], "distances");
  return {
    policy,
    window: readCount(distances.window, "distances.window"),
    group: policy === "grouped" ? readCount(distances.group, "distances.group") : 1,
  };
}
