// SPDX-License-Identifier: MIT
// The operations of conformance cases, each through the public functions: what the library gives, by the name that the
// expected tensor has in the file (without "expected.").

import {
  type Case,
  type CaseDescription,
  type Got,
  idsOf,
  needed,
  neededNumber,
  type Operation,
  positionIdsOf,
  positionOf,
  startingWith,
} from "./check-case.js";
import { explainConfig } from "./config.js";
import { PosLabError, unwrap, wrongArgument } from "./errors.js";
import { modelDefaults, trainingDefaults } from "./experiment-defaults.js";
import { caseModelSchema, parseWith, trainingSchema } from "./experiment-schema.js";
import type { PosLab } from "./poslab.js";
import type { FileTensor } from "./run-types.js";
import { flattenScheme } from "./schemes.js";
import type { AttentionOptions, TrainingOptions } from "./types.js";

export type Results = Map<string, Got>;

export const compute: Record<Exclude<Operation, "reject">, (item: Case, lab: PosLab) => Results> = {
  table: (item, lab) => {
    const { start = 0 } = item.description;
    return new Map([
      [
        "table",
        lab.table(positionOf(item), { length: neededNumber(item, "length"), dim: neededNumber(item, "dim"), start }),
      ],
    ]);
  },
  frequencies: (item, lab) => {
    const { length = 0 } = item.description;
    const { inverseFrequencies, attentionFactor } = lab.frequencies(positionOf(item), {
      headDim: neededNumber(item, "headDim"),
      length,
    });
    return new Map<string, Got>([
      ["inverseFrequencies", { data: inverseFrequencies, shape: [inverseFrequencies.length] }],
      ["attentionFactor", { data: [attentionFactor], shape: [1] }],
    ]);
  },
  rotate: (item, lab) =>
    new Map([
      [
        "x",
        lab.rotate(needed(item, "input.x"), positionOf(item), {
          positions: positionIdsOf(needed(item, "input.positions")),
        }),
      ],
    ]),
  slopes: (item, lab) => {
    const data = lab.slopes(positionOf(item), { heads: neededNumber(item, "heads") });
    return new Map([["slopes", { data, shape: [data.length] }]]);
  },
  buckets: (item, lab) => {
    const data = lab.buckets(positionOf(item), idsOf(needed(item, "input.distances")));
    return new Map([["buckets", { data, shape: [data.length] }]]);
  },
  bias: (item, lab) => {
    const options = {
      heads: neededNumber(item, "heads"),
      queryLength: neededNumber(item, "queryLength"),
      keyLength: neededNumber(item, "keyLength"),
      ...givenPositions(item),
    };
    return new Map([["bias", lab.bias(positionOf(item), options)]]);
  },
  attention: (item, lab) => {
    const { output, weights } = lab.attention({
      ...attentionOptions(item),
      weights: item.tensors.has("expected.weights"),
    });
    return new Map<string, Got>([["output", output], ...(weights ? [["weights", weights] as [string, Got]] : [])]);
  },
  "attention-gradients": (item, lab) => {
    const { query, key, value, position, gates, sinks } = lab.attentionGradients({
      ...attentionOptions(item),
      outputGradient: needed(item, "input.outputGradient"),
    });
    return new Map<string, Got>([
      ["gradient.query", query],
      ["gradient.key", key],
      ["gradient.value", value],
      ...(gates ? [["gradient.gates", gates] as [string, Got]] : []),
      ...(sinks ? [["gradient.sinks", sinks] as [string, Got]] : []),
      ...Object.entries(position).map(([name, tensor]) => [`gradient.position.${name}`, tensor] as [string, Got]),
    ]);
  },
  training: train,
  config: (item, lab) => {
    const { config, layerType, length = 0 } = item.description;
    const { layers } = explainConfig(config, { lab, length, ...(layerType === undefined ? {} : { layer: layerType }) });
    const { inverseFrequencies, attentionFactor = null } =
      Object.values(layers).find((layer) => layer.inverseFrequencies) ?? {};
    if (!inverseFrequencies || attentionFactor === null)
      throw new PosLabError("notDefined", "config: there is no rotation in this layer, and so no frequencies", {
        argument: "config",
      });
    return new Map<string, Got>([
      ["inverseFrequencies", { data: inverseFrequencies, shape: [inverseFrequencies.length] }],
      ["attentionFactor", { data: [attentionFactor], shape: [1] }],
    ]);
  },
};

function attentionOptions(item: Case): AttentionOptions {
  const { mask, scale, distances } = item.description;
  const keyMask = item.tensors.get("input.keyMask");
  const gates = item.tensors.get("input.gates");
  const sinks = item.tensors.get("input.sinks");
  return {
    query: needed(item, "input.query"),
    key: needed(item, "input.key"),
    value: needed(item, "input.value"),
    position: positionOf(item),
    ...(mask ? { mask } : {}),
    ...(scale === undefined ? {} : { scale }),
    ...(distances === undefined ? {} : { distances }),
    ...(gates ? { gates } : {}),
    ...(sinks ? { sinks: Array.from(sinks.data as ArrayLike<number>) } : {}),
    ...(keyMask ? { keyMask: idsOf(keyMask) } : {}),
    ...givenPositions(item),
  };
}

/** The position ids that a case brings along. */
function givenPositions(item: Case): Pick<AttentionOptions, "queryPositions" | "keyPositions"> {
  const queryPositions = item.tensors.get("input.queryPositions");
  const keyPositions = item.tensors.get("input.keyPositions");
  return {
    ...(queryPositions ? { queryPositions: positionIdsOf(queryPositions) } : {}),
    ...(keyPositions ? { keyPositions: positionIdsOf(keyPositions) } : {}),
  };
}

/** Follows given batches from given weights, step by step. */
function train(item: Case, lab: PosLab): Results {
  const { position } = item.description;
  if (!item.description.model || !item.description.training)
    throw new PosLabError("format", "not a case: it needs model and training", { argument: "case" });
  const model = parseWith(caseModelSchema, item.description.model, "model") as NonNullable<CaseDescription["model"]>;
  const training = parseWith(trainingSchema, item.description.training, "training") as TrainingOptions;
  const batches = needed(item, "input.batches");
  const [steps, batch, row] = rowsOf(batches, "input.batches", "[steps, batch, length + 1]");
  const test = needed(item, "input.test");
  const [sequences, testRow] = rowsOf(test, "input.test", "[sequences, length + 1]");
  const length = row - 1;
  const shape = {
    ...modelDefaults,
    keyValueHeads: 0,
    ...model,
    bias: model.bias ?? null,
    trainedLength: training.length ?? length,
  };
  const optimizer = { ...trainingDefaults("text"), steps, ...training };
  const { Trainer: trainer } = unwrap(lab.core.makeTrainer(shape, flattenScheme(position), optimizer));
  try {
    const parameters = trainer.parameters();
    const weights = trainer.weights();
    const byName = new Map(startingWith(item, "weights."));
    for (const { name, shape: wanted, offset } of parameters) {
      const tensor = byName.get(name);
      if (!tensor)
        throw new PosLabError("missing", `weights.${name} is missing; a tensor [${wanted.join(", ")}] is needed`);
      if (tensor.shape.join() !== wanted.join())
        throw wrongArgument("shape", `weights.${name}`, tensor.shape, `a tensor [${wanted.join(", ")}]`);
      weights.set(Array.from(tensor.data as ArrayLike<number>, Number), offset);
      byName.delete(name);
    }
    for (const name of byName.keys())
      throw new PosLabError("unknownName", `weights.${name} is no tensor of this model`);
    unwrap(trainer.setWeights(weights));

    const results: Results = new Map();
    const losses: number[] = [];
    const norms: number[] = [];
    for (let step = 0; step < steps; step += 1) {
      const { ids, targets } = shifted(batches, "input.batches", step * batch, batch, row);
      losses.push(unwrap(trainer.loss(ids, targets, batch, length)).loss);
      if (step === 0) {
        const gradients = trainer.gradients();
        for (const { name, shape: extents, offset, size } of parameters) {
          results.set(`gradient.${name}`, { data: gradients.slice(offset, offset + size), shape: extents });
        }
      }
      norms.push(unwrap(trainer.update()).gradientNorm);
    }
    results.set("losses", { data: losses, shape: [steps] });
    results.set("gradientNorms", { data: norms, shape: [steps] });
    const { ids, targets } = shifted(test, "input.test", 0, sequences, testRow);
    results.set("testLosses", {
      data: unwrap(trainer.score(ids, targets, sequences, testRow - 1)).losses,
      shape: [sequences, testRow - 1],
    });
    return results;
  } finally {
    trainer.delete();
  }
}

/** The extents of a tensor of ids whose rows hold at least one id more than they predict. */
function rowsOf(tensor: FileTensor, name: string, wanted: "[steps, batch, length + 1]"): [number, number, number];
function rowsOf(tensor: FileTensor, name: string, wanted: "[sequences, length + 1]"): [number, number];
function rowsOf({ shape }: FileTensor, name: string, wanted: string): number[] {
  if (shape.length !== wanted.split(",").length || shape[shape.length - 1] === 0)
    throw wrongArgument("shape", name, shape, `a tensor ${wanted}`);
  return [...shape];
}

/** Rows of ids and, shifted by one, what each place is to predict. */
function shifted(
  { data }: FileTensor,
  name: string,
  first: number,
  count: number,
  row: number,
): { ids: Int32Array; targets: Int32Array } {
  const ids = new Int32Array(count * (row - 1));
  const targets = new Int32Array(count * (row - 1));
  const idAt = (place: number): number => {
    const id = Number(data[place]);
    // An Int32Array would wrap it into another id.
    if (id !== Math.trunc(id) || Math.abs(id) >= 2 ** 31)
      throw wrongArgument("range", name, id, "ids of the vocabulary");
    return id;
  };
  for (let n = 0; n < count; n += 1) {
    for (let t = 0; t < row - 1; t += 1) {
      ids[n * (row - 1) + t] = idAt((first + n) * row + t);
      targets[n * (row - 1) + t] = idAt((first + n) * row + t + 1);
    }
  }
  return { ids, targets };
}
