// SPDX-License-Identifier: MIT
// `poslab table | bias | rotate | attention`: gathers the encoding and the inputs, calls the public API, hands the result on.

import { loadPosLab, type PosLab } from "../js/index.js";
import type { AttentionOptions, Distances, Position, Tensor } from "../js/types.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { Inputs } from "./inputs.js";
import { positionFromOptions, positionProblem, type PositionOptionValues, schemeInfo } from "./position-options.js";
import { type ModelSizes, startParameters } from "./start-parameters.js";
import { checkOutputs, deliver, type Computed, type OutputOptions } from "./tensor-output.js";

interface CommonOptions extends OutputOptions {
  input?: string;
  seed: number;
}
type Options<T> = CommonOptions & PositionOptionValues & T;

/** What every command here does around its own call. `compute` gets the scheme without learnable tensors. */
async function withLab(
  options: Options<unknown>,
  compute: (lab: PosLab, position: Position, inputs: Inputs) => Omit<Computed, "inputs" | "random">,
): Promise<number> {
  checkOutputs(options);
  const position = positionFromOptions(options);
  const inputs = new Inputs(options.input, options.seed);
  const lab = await loadPosLab();
  let computed: Omit<Computed, "inputs" | "random">;
  try {
    computed = compute(lab, position, inputs);
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(positionProblem(error, options)) : error;
  }
  if (!options.json) inputs.sayRandom();
  deliver({ ...computed, inputs: inputs.used, random: { seed: inputs.seed, tensors: inputs.random } }, options);
  return exitStatus.done;
}

function withParameters(lab: PosLab, position: Position, inputs: Inputs, sizes: ModelSizes): Position {
  return inputs.withParameters(position, () => startParameters(lab, position, sizes, inputs.seed));
}

export async function computeTable(options: Options<{ length: number; dim: number; start: number }>): Promise<number> {
  const { length, dim, start } = options;
  return withLab(options, (lab, described, inputs) => {
    const position = withParameters(lab, described, inputs, { heads: 1, headDim: dim, positions: start + length });
    const table = lab.table(position, { length, dim, start });
    return {
      op: "table",
      position,
      call: { length, dim, start },
      results: { table },
      shown: "table",
      axes: ["position", "dim"],
    };
  });
}

export async function computeBias(
  options: Options<{ heads: number; queryLength: number; keyLength?: number }>,
): Promise<number> {
  const { heads, queryLength } = options;
  const keyLength = options.keyLength ?? queryLength;
  return withLab(options, (lab, described, inputs) => {
    const position = inputs.withParameters(described, () =>
      biasParameters(lab, described, heads, keyLength, inputs.seed),
    );
    const bias = lab.bias(position, { heads, queryLength, keyLength });
    return {
      op: "bias",
      position,
      call: { heads, queryLength, keyLength },
      results: { bias },
      shown: "bias",
      axes: ["head", "query", "key"],
    };
  });
}

/** Tensors whose width is that of a head meet queries and keys: then the bias is not one of positions alone. */
export function biasParameters(
  lab: PosLab,
  position: Position,
  heads: number,
  positions: number,
  seed: number,
): Record<string, Tensor> {
  if (schemeInfo(lab, position)?.hooks.includes("embedding"))
    throw new Refusal(
      `option '--position': ${position.type} adds nothing to the logits; poslab table shows what it adds to tokens`,
    );
  const [narrow, wide] = [2, 4].map((headDim) => startParameters(lab, position, { heads, headDim, positions }, seed));
  const shapes = (tensors: Record<string, Tensor>): string =>
    JSON.stringify(Object.values(tensors).map(({ shape }) => shape));
  if (shapes(narrow!) === shapes(wide!)) return narrow!;
  throw new Refusal(
    `option '--position': what ${position.type} adds to the logits depends on queries and keys too; poslab attention --show scores shows the scores`,
  );
}

export async function computeRotate(
  options: Options<{ heads?: number; length?: number; headDim?: number; positions?: number[] }>,
): Promise<number> {
  return withLab(options, (lab, position, inputs) => {
    const length = options.length ?? options.positions?.length;
    const x = inputs.tensor(
      "x",
      ["heads", "length", "head dim"],
      [options.heads, length, options.headDim],
      [1, 8, 16],
      ["--heads", options.length === undefined ? "--positions" : "--length", "--head-dim"],
    );
    const given = options.positions && { data: options.positions, shape: [options.positions.length] };
    const positions = given ??
      inputs.integers("positions") ?? {
        data: Array.from({ length: x.shape[1]! }, (_, index) => index),
        shape: [x.shape[1]!],
      };
    if (positions.shape[0] !== x.shape[1])
      throw new Refusal(`option '--positions': ${positions.shape[0]} were given for a length of ${x.shape[1]}`);
    if (!inputs.used.some(([name]) => name === "input.positions"))
      inputs.used.push([
        "input.positions",
        { data: BigInt64Array.from(positions.data, BigInt), shape: positions.shape },
      ]);
    const turned = lab.rotate(x, position, { positions });
    return { op: "rotate", position, call: {}, results: { x: turned }, shown: "x", axes: ["head", "position", "lane"] };
  });
}

interface AttentionSizes {
  heads?: number;
  keyValueHeads?: number;
  queryLength?: number;
  keyLength?: number;
  headDim?: number;
  valueDim?: number;
  causal?: boolean;
  alignment?: "bottom-right" | "top-left";
  window?: number;
  scale?: number;
  distances?: Distances;
  show: "output" | "weights" | "scores" | "log-sum-exp";
  weights?: boolean;
  scores?: boolean;
  logSumExp?: boolean;
}

export async function computeAttention(options: Options<AttentionSizes>): Promise<number> {
  return withLab(options, (lab, described, inputs) => {
    const { query, key, value } = attentionInputs(options, inputs);
    const [heads, keys, headDim] = [query.shape[0]!, key.shape[1]!, query.shape[2]!];
    // Its tensors make the gates in a model; here the gates are given.
    const gated = schemeInfo(lab, described)?.gates;
    const position = gated ? described : withParameters(lab, described, inputs, { heads, headDim, positions: keys });
    const mask = {
      ...(options.causal ? { causal: true } : {}),
      ...(options.alignment ? { alignment: options.alignment } : {}),
      ...(options.window === undefined ? {} : { window: options.window }),
    };
    const keyMask = inputs.integers("keyMask"),
      queryPositions = inputs.integers("queryPositions"),
      keyPositions = inputs.integers("keyPositions");
    const call: AttentionOptions = {
      query,
      key,
      value,
      position,
      mask,
      ...(gated ? { gates: inputs.gates(heads, keys) } : {}),
      ...(keyMask ? { keyMask: keyMask.data } : {}),
      ...(queryPositions ? { queryPositions } : {}),
      ...(keyPositions ? { keyPositions } : {}),
      ...(options.scale === undefined ? {} : { scale: options.scale }),
      ...(options.distances === undefined ? {} : { distances: options.distances }),
      weights: options.weights ?? options.show === "weights",
      scores: options.scores ?? options.show === "scores",
      logSumExp: options.logSumExp ?? options.show === "log-sum-exp",
    };
    const { output, weights, scores, logSumExp } = lab.attention(call);
    const results: Record<string, Tensor> = {
      output,
      ...(weights ? { weights } : {}),
      ...(scores ? { scores } : {}),
      ...(logSumExp ? { logSumExp } : {}),
    };
    const shown = options.show === "log-sum-exp" ? "logSumExp" : options.show;
    const axes = {
      output: ["head", "query", "lane"],
      weights: ["head", "query", "key"],
      scores: ["head", "query", "key"],
      logSumExp: ["head", "query"],
    }[shown];
    return {
      op: "attention",
      position,
      call: {
        mask,
        ...(options.scale === undefined ? {} : { scale: options.scale }),
        ...(options.distances === undefined ? {} : { distances: options.distances }),
      },
      results,
      shown,
      axes,
    };
  });
}

function attentionInputs(options: AttentionSizes, inputs: Inputs): { query: Tensor; key: Tensor; value: Tensor } {
  const query = inputs.tensor(
    "query",
    ["heads", "query length", "head dim"],
    [options.heads, options.queryLength, options.headDim],
    [2, 8, 16],
    ["--heads", "--query-length", "--head-dim"],
  );
  const [heads, length, width] = query.shape as [number, number, number];
  if (options.keyValueHeads !== undefined && heads % options.keyValueHeads !== 0)
    throw new Refusal(
      `option '--key-value-heads': ${options.keyValueHeads} was given; a divisor of the ${heads} heads of the queries is allowed`,
    );
  const key = inputs.tensor(
    "key",
    ["key/value heads", "key length", "head dim"],
    [options.keyValueHeads, options.keyLength, options.headDim],
    [heads, length, width],
    ["--key-value-heads", "--key-length", "--head-dim"],
  );
  const value = inputs.tensor(
    "value",
    ["key/value heads", "key length", "value dim"],
    [options.keyValueHeads, options.keyLength, options.valueDim],
    [key.shape[0]!, key.shape[1]!, key.shape[2]!],
    ["--key-value-heads", "--key-length", "--value-dim"],
  );
  return { query, key, value };
}
