// SPDX-License-Identifier: MIT
// Brings tensors from their files into the core, a piece at a time: what is held beside the model is one piece (or one
// tensor, where it has to be turned), never a file.

import { throwIfAborted } from "../byte-source.js";
import type { LoadingStep, RowRange } from "./families/tensor-plan.js";
import type { ModelCalls } from "./model-description.js";
import { type StoredTensor, readStored, storedBytes } from "./stored-tensor.js";
import { type TensorType, tensorTypes, widenBlocks } from "./tensor-types.js";

/** Numbers read at a time; a multiple of every block. */
const piece = 2 ** 22;

export interface LoadingProgress {
  /** of the tensors' bytes in the files */ bytes: number;
  totalBytes: number;
  /** canonical name of the tensor that is being read */ tensor: string;
}

export interface LoadingOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LoadingProgress) => void) | undefined;
}

/** Sets every tensor of the plan. @throws PosLabError (aborted) when the signal fires, between two pieces. */
export async function loadTensors(
  model: Pick<ModelCalls, "setTensor">,
  steps: readonly LoadingStep[],
  { signal, onProgress }: LoadingOptions,
): Promise<void> {
  const totalBytes = steps.reduce((sum, step) => sum + bytesOf(step), 0);
  let bytes = 0;
  for (const step of steps) {
    const read = (count: number): void => {
      bytes += count;
      onProgress?.({ bytes, totalBytes, tensor: step.name });
    };
    throwIfAborted(signal);
    if (step.transposed) await loadTransposed(model, step, read, signal);
    else await loadStraight(model, step, read, signal);
  }
}

const rowNumbers = ({ shape }: StoredTensor): number => shape.slice(1).reduce((product, extent) => product * extent, 1);
const rowCount = ({ shape }: StoredTensor): number => shape[0] ?? 1;
const wholeOf = (stored: StoredTensor): RowRange[] => [[0, rowCount(stored)]];

/** What a step reads; of a turned tensor every part reads the whole. */
function bytesOf({ stored, rows, transposed }: LoadingStep): number {
  const ranges = transposed || !rows ? wholeOf(stored) : rows;
  const count = ranges.reduce((sum, [first, end]) => sum + (end - first), 0);
  return Number(storedBytes(stored.type, [count, ...stored.shape.slice(1)]) ?? 0n);
}

async function loadStraight(
  model: Pick<ModelCalls, "setTensor">,
  { name, stored, rows, plusOne }: LoadingStep,
  read: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { block, bytes: blockBytes }: TensorType = tensorTypes[stored.type];
  const width = rowNumbers(stored);
  let from = 0;
  for (const [first, end] of rows ?? wholeOf(stored)) {
    for (let number = first * width; number < end * width; number += piece) {
      const count = Math.min(piece, end * width - number);
      const begin = stored.begin + (number / block) * blockBytes;
      const bytes = await stored.source.read(begin, begin + (count / block) * blockBytes, signal);
      model.setTensor(name, adjusted(widenBlocks(stored.type, bytes), plusOne), { from });
      from += count;
      read(bytes.length);
    }
  }
}

/** [in, out] in the file: of some output rows it is some columns. */
async function loadTransposed(
  model: Pick<ModelCalls, "setTensor">,
  { name, stored, rows, plusOne }: LoadingStep,
  read: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const numbers = await readStored(stored, signal);
  const width = stored.shape[1]!;
  const columns = rows ?? [[0, width] as RowRange];
  const picked = columns.reduce((sum, [first, end]) => sum + end - first, 0);
  const part = picked === width ? numbers : new Float32Array(stored.shape[0]! * picked);
  if (part !== numbers)
    for (let row = 0, at = 0; row < stored.shape[0]!; row += 1)
      for (const [first, end] of columns) {
        part.set(numbers.subarray(row * width + first, row * width + end), at);
        at += end - first;
      }
  model.setTensor(name, adjusted(part, plusOne), { transposed: true });
  read(stored.end - stored.begin);
}

function adjusted(numbers: Float32Array, plusOne: boolean): Float32Array {
  return plusOne ? numbers.map((number) => number + 1) : numbers;
}
