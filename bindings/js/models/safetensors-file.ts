// SPDX-License-Identifier: MIT
// safetensors as model files: only the header is read, tensors when they are asked for. A checkpoint in several files
// has an index (model.safetensors.index.json) that says which file holds which tensor.

import { formatError } from "../safetensors-header.js";
import { checkRest, headerEnd, readLayout } from "../safetensors-layout.js";
import type { ByteSource } from "../byte-source.js";
import type { ModelFile } from "./stored-tensor.js";

/** Reads the header of one file. @throws PosLabError (format) with the reason. */
export async function readSafetensorsFile(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  const start = await source.read(0, Math.min(8, source.size), signal);
  const dataBegin = headerEnd(start, source.size);
  const { entries, metadata, rest } = readLayout(await source.read(8, dataBegin, signal), source.size - dataBegin);
  checkRest(await source.read(dataBegin + rest, source.size, signal));
  const tensors: ModelFile["tensors"] = new Map();
  for (const { name, dtype, shape, begin, end } of entries)
    tensors.set(name, { name, type: dtype, shape, source, begin: dataBegin + begin, end: dataBegin + end });
  return { format: "safetensors", tensors, metadata };
}

/** Puts the shards of one checkpoint together; `index` is the JSON of its index file where there is one. */
export function joinShards(shards: readonly (readonly [string, ModelFile])[], index?: unknown): ModelFile {
  const joined: ModelFile = { format: "safetensors", tensors: new Map(), metadata: new Map() };
  const shardOf = new Map<string, string>();
  for (const [fileName, shard] of shards) {
    for (const [name, tensor] of shard.tensors) {
      const before = shardOf.get(name);
      if (before !== undefined) throw formatError(`the tensor ${JSON.stringify(name)} is in ${before} and ${fileName}`);
      shardOf.set(name, fileName);
      joined.tensors.set(name, tensor);
    }
    for (const [key, value] of shard.metadata) joined.metadata.set(key, value);
  }
  if (index !== undefined) checkIndex(shardOf, index);
  return joined;
}

function checkIndex(shardOf: ReadonlyMap<string, string>, index: unknown): void {
  const weightMap = (index as { weight_map?: unknown } | null)?.weight_map;
  if (typeof weightMap !== "object" || weightMap === null) throw formatError("the index has no weight_map");
  const missing = Object.entries(weightMap as Record<string, unknown>).filter(
    ([name, fileName]) => shardOf.get(name) !== fileName,
  );
  if (missing.length === 0) return;
  const files = [...new Set(missing.map(([, fileName]) => String(fileName)))];
  throw formatError(
    `the index names ${missing.length} tensors that are not in the files given, from ${files.slice(0, 4).join(", ")}${files.length > 4 ? ` and ${files.length - 4} more` : ""}`,
  );
}
