// SPDX-License-Identifier: MIT
// GGUF as a model file: the header's tensors, all of whose bytes are there.

import type { ByteSource } from "../byte-source.js";
import { ggufError } from "../gguf/cursor.js";
import { describeTensor, readGgufHeader } from "../gguf/header.js";
import type { ModelFile } from "./stored-tensor.js";

/** Reads the header of a GGUF file. @throws PosLabError (format) with the reason. */
export async function readGgufFile(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  const { metadata, tensors } = await readGgufHeader(source, signal);
  for (const tensor of tensors)
    if (tensor.end > source.size)
      throw ggufError(`${describeTensor(tensor)} ends at byte ${tensor.end}, and the file has ${source.size}`);
  return { format: "gguf", tensors: new Map(tensors.map((tensor) => [tensor.name, { ...tensor, source }])), metadata };
}
