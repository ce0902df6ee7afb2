// SPDX-License-Identifier: MIT
// `poslab export`: a rotation's caches or a bias as a safetensors file with the names that another program has for them.

import { writeFileSync } from "node:fs";
import { type ExportProgram, loadPosLab } from "../js/index.js";
import { writeSafetensors } from "../js/safetensors.js";
import { exitStatus, isPosLabError, Refusal } from "./failure.js";
import { positionFromOptions, positionProblem, type PositionOptionValues } from "./position-options.js";

type Options = PositionOptionValues & {
  program: ExportProgram;
  out: string;
  headDim: number;
  heads: number;
  length: number;
  queryLength?: number;
  causal?: boolean;
};

export async function exportTensors(options: Options): Promise<number> {
  const { program, headDim, heads, length, queryLength = length, causal = false } = options;
  const lab = await loadPosLab();
  const position = positionFromOptions(options);
  const rotates = lab.info.schemes.find(({ type }) => type === position.type)?.hooks.includes("rotation");
  try {
    const { tensors, attributes } = rotates
      ? await lab.exportRotation(position, { program, headDim, length })
      : await lab.exportBias(position, { program, heads, queryLength, keyLength: length, causal });
    const metadata = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
    writeFileSync(options.out, writeSafetensors(Object.entries(tensors), metadata));
    const shapes = Object.entries(tensors).map(([name, { shape }]) => `${name} [${shape.join(", ")}]`);
    const settings = Object.entries(metadata).map(([name, value]) => `${name} = ${value}`);
    process.stdout.write(`${[...shapes, ...settings].join("\n")}\n`);
  } catch (error) {
    throw isPosLabError(error) ? new Refusal(positionProblem(error, options)) : error;
  }
  return exitStatus.done;
}
