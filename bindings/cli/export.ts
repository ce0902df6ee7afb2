// SPDX-License-Identifier: MIT
// `poslab export`: a rotation's caches or a bias as a safetensors file with the names that another program has for them.

import { type ExportProgram, loadPosLab } from "../js/index.js";
import { writeSafetensors } from "../js/safetensors.js";
import { biasParameters } from "./compute.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { checkWritable, formatOf, writeWhole } from "./files.js";
import { Inputs } from "./inputs.js";
import { positionFromOptions, positionProblem, type PositionOptionValues, schemeInfo } from "./position-options.js";

type Options = PositionOptionValues & {
  program: ExportProgram;
  out: string;
  headDim: number;
  heads: number;
  length: number;
  queryLength?: number;
  causal?: boolean;
  input?: string;
  seed: number;
};

export async function exportTensors(options: Options): Promise<number> {
  const { program, headDim, heads, length, queryLength = length, causal = false } = options;
  formatOf(options.out, ["safetensors"], "--out");
  checkWritable(options.out, "--out");
  const described = positionFromOptions(options);
  const inputs = new Inputs(options.input, options.seed);
  const lab = await loadPosLab();
  const rotates = schemeInfo(lab, described)?.hooks.includes("rotation");
  try {
    if (rotates && (causal || options.queryLength !== undefined))
      throw new Refusal(`option '--${causal ? "causal" : "query-length"}': ${described.type} rotates and has no bias`);
    const position = rotates
      ? described
      : inputs.withParameters(described, () => biasParameters(lab, described, heads, length, inputs.seed));
    const { tensors, attributes } = rotates
      ? await lab.exportRotation(position, { program, headDim, length })
      : await lab.exportBias(position, { program, heads, queryLength, keyLength: length, causal });
    inputs.sayRandom();
    const metadata = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
    writeWhole(options.out, writeSafetensors(Object.entries(tensors), metadata));
    const shapes = Object.entries(tensors).map(([name, { shape }]) => `${name} [${shape.join(", ")}]`);
    const settings = Object.entries(metadata).map(([name, value]) => `${name} = ${value}`);
    process.stdout.write(`${[...shapes, ...settings].join("\n")}\n`);
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(positionProblem(error, options)) : error;
  }
  return exitStatus.done;
}
