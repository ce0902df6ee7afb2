// SPDX-License-Identifier: MIT
// What an interrupted experiment leaves beside its result: NAME.state.safetensors with the weights and state of every
// half-finished run (tensors "run.<encoding>.<seed>.<name>"), which PyTorch opens like any other. Finished runs are in the result itself.

import { createHash } from "node:crypto";
import { dirname, join, relative, resolve } from "node:path";
import type { FileTensor } from "../js/run-types.js";
import { readSafetensors, writeSafetensors, type TensorToWrite } from "../js/safetensors.js";
import type { ExperimentState } from "../js/types.js";
import { Refusal } from "./failure.js";
import { isFile, readBytes, removeIfThere, writeWhole } from "./files.js";

type Unfinished = ExperimentState["unfinished"];

/** The text that the runs were trained on, so that they cannot go on with another one. */
export interface CorpusMark {
  sha256: string;
  /** where it was, relative to the state file */ path?: string;
}
export interface SavedState {
  unfinished: Unfinished;
  corpus: CorpusMark | null;
}

const kFormat = "poslab-state-1";
const kWritten = new Set(["F64", "F32", "I64", "U8"]);

export function statePath(resultPath: string): string {
  return `${resultPath.replace(/\.json$/i, "")}.state.safetensors`;
}

export function markCorpus(bytes: Uint8Array, file: string | undefined, resultPath: string): CorpusMark {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return file === undefined ? { sha256 } : { sha256, path: relative(dirname(resolve(resultPath)), resolve(file)) };
}

export function corpusPath(mark: CorpusMark, resultPath: string): string | null {
  return mark.path === undefined ? null : join(dirname(resultPath), mark.path);
}

/** Writes the state, or removes an old one when every run is finished. Returns the path when there is something to go on from. */
export function saveState(resultPath: string, unfinished: Unfinished, corpus: CorpusMark | null): string | null {
  const path = statePath(resultPath);
  if (unfinished.length === 0) {
    removeIfThere(path);
    return null;
  }
  const tensors: [string, TensorToWrite][] = [];
  const metadata: Record<string, string> = { format: kFormat };
  if (corpus) metadata["corpus"] = JSON.stringify(corpus);
  for (const { encoding, seed, state } of unfinished) {
    const prefix = `run.${encoding}.${seed}.`;
    const file = readSafetensors(state);
    for (const [name, tensor] of file.tensors) tensors.push([prefix + name, keepType(name, tensor)]);
    for (const [name, text] of file.metadata) metadata[prefix + name] = text;
  }
  writeWhole(path, writeSafetensors(tensors, metadata));
  return path;
}

/** A state has to come back bit for bit, so a type that the writer would change is refused here. */
function keepType(name: string, { dtype, shape, data }: FileTensor): TensorToWrite {
  if (!kWritten.has(dtype))
    throw new Error(`the state has the tensor ${name} of type ${dtype}, which is not kept exactly`);
  return { data, shape, dtype: dtype as NonNullable<TensorToWrite["dtype"]> };
}

/** The state beside a result; nothing unfinished when there is no such file. */
export function loadState(resultPath: string): SavedState {
  const path = statePath(resultPath);
  if (!isFile(path)) return { unfinished: [], corpus: null };
  const refuse = (problem: string): Refusal => new Refusal(`${path} is not a state that can be resumed: ${problem}`);
  let file: ReturnType<typeof readSafetensors>;
  try {
    file = readSafetensors(readBytes(path));
  } catch (error) {
    throw error instanceof Refusal ? error : refuse((error as Error).message);
  }
  if (file.metadata.get("format") !== kFormat) throw refuse(`its metadata does not say "format": "${kFormat}"`);
  const runs = new Map<
    string,
    { encoding: number; seed: number; tensors: [string, TensorToWrite][]; metadata: Record<string, string> }
  >();
  const runOf = (name: string): { run: NonNullable<ReturnType<typeof runs.get>>; name: string } => {
    const parts = /^run\.(\d{1,9})\.(\d{1,16})\.(.+)$/s.exec(name);
    if (!parts) throw refuse(`${JSON.stringify(name)} belongs to no run`);
    const key = `${parts[1]}.${parts[2]}`;
    let run = runs.get(key);
    if (!run) runs.set(key, (run = { encoding: Number(parts[1]), seed: Number(parts[2]), tensors: [], metadata: {} }));
    return { run, name: parts[3]! };
  };
  for (const [full, tensor] of file.tensors) {
    const { run, name } = runOf(full);
    run.tensors.push([name, keepType(name, tensor)]);
  }
  for (const [full, text] of file.metadata) {
    if (full === "format" || full === "corpus") continue;
    const { run, name } = runOf(full);
    run.metadata[name] = text;
  }
  return {
    unfinished: [...runs.values()].map(({ encoding, seed, tensors, metadata }) => ({
      encoding,
      seed,
      state: writeSafetensors(tensors, metadata),
    })),
    corpus: readMark(file.metadata.get("corpus")),
  };
}

function readMark(text: string | undefined): CorpusMark | null {
  if (text === undefined) return null;
  try {
    const mark = JSON.parse(text) as Partial<CorpusMark> | null;
    if (typeof mark?.sha256 !== "string") return null;
    return { sha256: mark.sha256, ...(typeof mark.path === "string" ? { path: mark.path } : {}) };
  } catch {
    return null;
  }
}
