// SPDX-License-Identifier: MIT
// GGUF metadata as a config: the same fields under other names. Loaded only when a GGUF file is read, and content with a
// header whose tensors are not there: nothing of them is read.

import type { ByteSource } from "../byte-source.js";
import { ggufError, type GgufValue, StringArray } from "../gguf/cursor.js";
import { readGgufHeader } from "../gguf/header.js";
import { kTensorNames } from "./gguf-config.js";
import type { Json } from "./reader.js";

/** Metadata as it stands in the file, with the names of the tensors under `kTensorNames`. */
export async function readGgufMetadata(source: ByteSource): Promise<Json> {
  const { metadata, tensors } = await readGgufHeader(source);
  if (typeof metadata.get("general.architecture") !== "string")
    throw ggufError("general.architecture is missing, after which the other keys are named");
  return {
    ...Object.fromEntries([...metadata].map(([key, value]) => [key, asJson(value)])),
    [kTensorNames]: tensors.map(({ name }) => name),
  };
}

/** Lists longer than this are vocabularies, and no config. */
const kLongestList = 65_536;

function asJson(value: GgufValue): unknown {
  if (value instanceof StringArray) return value.length > kLongestList ? value : [...value];
  if (ArrayBuffer.isView(value))
    return value.length > kLongestList ? value : Array.from(value as Iterable<number | bigint>, Number);
  return Array.isArray(value) ? value.map(asJson) : value;
}
