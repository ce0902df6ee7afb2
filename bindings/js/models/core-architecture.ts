// SPDX-License-Identifier: MIT
// An Architecture on its way to the core: defaults filled in, names checked. What the numbers mean is checked there.

import type { CoreArchitecture, CoreStack } from "../core-types.js";
import { PosLabError, wrongArgument } from "../errors.js";
import { flattenScheme } from "../schemes.js";
import { checkOptions, readCount } from "../tensors.js";
import type { ActivationName, Architecture, BlockBiases, Stack } from "./model-description.js";

const activations: readonly ActivationName[] = ["gelu-tanh", "gelu-erf", "gelu-quick", "relu", "relu-squared", "silu"];
const biasNames: readonly (keyof BlockBiases)[] = ["query", "key", "value", "attentionOutput", "gate", "in", "out"];
const stackFields: readonly (keyof Stack)[] = [
  ...(["layers", "heads", "keyValueHeads", "headDim", "feedForward", "causal", "position", "scale", "window"] as const),
  ...(["norm", "finalNorm", "embeddingNorm", "embeddingScale", "parallel", "activation", "gated", "bias"] as const),
  ...(["queryKeyNorm", "sinks"] as const),
];
const fields: readonly (keyof Architecture)[] = [
  ...(["dim", "vocabulary", "trainedLength", "encoder", "decoder", "separateEmbeddings", "tokenTypes"] as const),
  ...(["image", "memoryLength", "head"] as const),
];

/** One of some names; undefined is the default. */
function choice<T extends string>(value: T | undefined, known: readonly T[], otherwise: T, argument: string): T {
  const chosen = value ?? otherwise;
  if (!known.includes(chosen)) throw wrongArgument("unknownName", argument, chosen, known.join(", "));
  return chosen;
}

function number(value: unknown, argument: string): number {
  if (typeof value !== "number" || Number.isNaN(value)) throw wrongArgument("type", argument, value, "a number");
  return value;
}

function biasesOf(bias: Stack["bias"], argument: string): BlockBiases {
  const given = typeof bias === "object" ? bias : {};
  checkOptions(given, biasNames, argument);
  const all = bias === true;
  return Object.fromEntries(biasNames.map((name) => [name, given[name] ?? all])) as unknown as BlockBiases;
}

function windowsOf(window: Stack["window"], layers: number, argument: string): number[] {
  const list = Array.isArray(window) ? (window as readonly (number | null)[]) : null;
  if (list && list.length !== layers)
    throw wrongArgument("shape", argument, list.length, `one window, or one for each of ${layers} layers`);
  const single = list ? null : ((window ?? null) as number | null);
  return Array.from({ length: layers }, (_, layer) => readCount((list ? list[layer] : single) ?? 0, argument));
}

function coreStack(stack: Stack, dim: number, argument: string): CoreStack {
  checkOptions(stack, stackFields, argument);
  const { layers, heads, norm } = stack;
  const headDim = stack.headDim ?? dim / heads;
  if (!Number.isInteger(headDim))
    throw wrongArgument("range", `${argument}.heads`, heads, `a divisor of dim, which is ${dim}, or a headDim`);
  // A core that checks the count itself must not be asked for as many windows first.
  if (!(layers >= 1 && layers <= 1024))
    throw wrongArgument("range", `${argument}.layers`, layers, "a whole number from 1 to 1024");
  const positions = Array.isArray(stack.position) ? (stack.position as readonly unknown[]) : [stack.position];
  const parallel = stack.parallel || "no";
  return {
    layers: readCount(layers, `${argument}.layers`),
    heads: readCount(heads, `${argument}.heads`),
    keyValueHeads: readCount(stack.keyValueHeads ?? heads, `${argument}.keyValueHeads`),
    headDim,
    feedForward: readCount(stack.feedForward, `${argument}.feedForward`),
    causal: stack.causal,
    position: positions.map((position, layer) =>
      flattenScheme(position, positions.length > 1 ? `${argument}.position[${layer}]` : `${argument}.position`),
    ),
    scale: stack.scale === undefined ? null : number(stack.scale, `${argument}.scale`),
    window: windowsOf(stack.window, layers, `${argument}.window`),
    norm: {
      kind: choice(norm.kind, ["layer", "rms"], "layer", `${argument}.norm.kind`),
      place: choice(norm.place, ["pre", "post"], "pre", `${argument}.norm.place`),
      epsilon: number(norm.epsilon, `${argument}.norm.epsilon`),
      bias: norm.bias ?? norm.kind === "layer",
    },
    finalNorm: stack.finalNorm ?? norm.place === "pre",
    embeddingNorm: stack.embeddingNorm ?? false,
    embeddingScale: number(stack.embeddingScale ?? 1, `${argument}.embeddingScale`),
    parallel: choice(parallel, ["no", "one-norm", "two-norms"], "no", `${argument}.parallel`),
    activation: choice(stack.activation, activations, "gelu-tanh", `${argument}.activation`),
    gated: stack.gated ?? false,
    bias: biasesOf(stack.bias, `${argument}.bias`),
    queryKeyNorm: choice(stack.queryKeyNorm, ["none", "head", "row"], "none", `${argument}.queryKeyNorm`),
    sinks: choice(stack.sinks, ["none", "zero", "learned"], "none", `${argument}.sinks`),
  };
}

function coreHead(head: NonNullable<Architecture["head"]>): NonNullable<CoreArchitecture["head"]> {
  const transform = head.transform ?? null;
  return {
    outputs: readCount(head.outputs, "architecture.head.outputs"),
    tied: head.tied,
    scale: number(head.scale ?? 1, "architecture.head.scale"),
    bias: head.bias ?? false,
    transform: transform && choice(transform, activations, "gelu-tanh", "architecture.head.transform"),
    pooling: choice(head.pooling, ["none", "first"], "none", "architecture.head.pooling"),
  };
}

/**
 * Every default filled in.
 * @throws PosLabError naming the field, as "architecture.decoder.heads".
 */
export function coreArchitecture(architecture: Architecture): CoreArchitecture {
  checkOptions(architecture, fields, "architecture");
  const { dim, encoder, decoder, image, head } = architecture;
  if (head === undefined)
    throw new PosLabError("missing", "architecture.head is missing; a head or null is needed", {
      argument: "architecture.head",
    });
  return {
    dim: readCount(dim, "architecture.dim"),
    vocabulary: readCount(architecture.vocabulary, "architecture.vocabulary"),
    trainedLength: readCount(architecture.trainedLength, "architecture.trainedLength"),
    encoder: encoder ? coreStack(encoder, dim, "architecture.encoder") : null,
    decoder: decoder ? coreStack(decoder, dim, "architecture.decoder") : null,
    separateEmbeddings: architecture.separateEmbeddings ?? false,
    tokenTypes: readCount(architecture.tokenTypes ?? 0, "architecture.tokenTypes"),
    image: image ? { ...image, classToken: image.classToken ?? true, patchBias: image.patchBias ?? true } : null,
    memoryLength: readCount(architecture.memoryLength ?? 0, "architecture.memoryLength"),
    head: head && coreHead(head),
  };
}
