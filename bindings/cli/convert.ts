// SPDX-License-Identifier: MIT
// `poslab convert`: a weight file from one lane layout to the other, streamed beside its place and renamed when whole.

import { renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type ConfigExplanation, explainConfig, readConfigFile } from "../js/config.js";
import { convertLayout, type HeadShape, type Layout } from "../js/convert.js";
import { exitStatus, fileProblem, isPosLabError, Refusal } from "./failure.js";
import { checkWritable, isFile } from "./files.js";

export interface ConvertCommandOptions {
  to: Layout;
  config?: string;
  headDim?: number;
  rotaryDim?: number;
  heads?: number;
}

export async function convert(from: string, to: string, options: ConvertCommandOptions): Promise<number> {
  if (resolve(from) === resolve(to)) throw new Refusal("the file to write is the one that is read; give another name");
  checkWritable(to, "<out>");
  const explanation = options.headDim === undefined ? await explanationFor(from, options) : undefined;
  const headsOf = explanation ? headsFrom(explanation, options) : () => given(options);
  let converted = 0;
  const chunks = convertLayout(from, {
    to: options.to,
    headsOf,
    ...(explanation?.modelType === "chatglm" ? { fused: "stacked" as const } : {}),
    onConverted: () => (converted += 1),
  });
  const beside = `${to}.${process.pid}.part`;
  try {
    const file = await open(beside, "w");
    try {
      for await (const chunk of chunks) await file.appendFile(chunk);
    } finally {
      await file.close();
    }
    renameSync(beside, to);
  } catch (error) {
    rmSync(beside, { force: true });
    if (error instanceof Refusal || isPosLabError(error)) throw error;
    throw new Refusal(`${to} cannot be written: ${fileProblem(error)}`);
  }
  if (
    explanation &&
    Object.values(explanation.layers).some(({ position }) => "layout" in position && position.layout === options.to)
  )
    process.stderr.write(
      `poslab: ${explanation.modelType} has the layout ${options.to} in files of this kind; if these weights had it too, they are in no layout now\n`,
    );
  process.stdout.write(`${converted} tensors of queries and keys are ${options.to} now, all else as it was: ${to}\n`);
  return exitStatus.done;
}

function given({ headDim = 0, rotaryDim = headDim, heads }: ConvertCommandOptions): HeadShape {
  return { headDim, rotaryDim, heads: heads ?? null };
}

async function explanationFor(from: string, options: ConvertCommandOptions): Promise<ConfigExplanation> {
  const path = options.config ?? join(dirname(from), "config.json");
  if (options.config === undefined && !isFile(path))
    throw new Refusal(
      `there is no config.json beside ${from}: give --config, or --head-dim (and --rotary-dim, --heads)`,
    );
  return explainConfig(await readConfigFile(path));
}

/** The heads of a tensor's layer, by the number in its name. */
function headsFrom(
  { layers, layerTypes }: ConfigExplanation,
  options: ConvertCommandOptions,
): (tensor: string) => HeadShape | null {
  return (tensor) => {
    const index = Number(/\.(\d+)\./.exec(tensor)?.[1] ?? 0);
    const layer = layers[layerTypes?.[index] ?? Object.keys(layers)[0]!];
    if (!layer || layer.position.type !== "rope" || layer.headDim === null || layer.rotaryDim === null) return null;
    return {
      headDim: layer.headDim,
      rotaryDim: options.rotaryDim ?? layer.rotaryDim,
      heads: options.heads ?? layer.heads,
    };
  };
}
