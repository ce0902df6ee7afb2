// SPDX-License-Identifier: MIT
// GGUF metadata as a config: the same fields under other names. Loaded only when a GGUF file is read; the file format
// itself is @huggingface/gguf's business, which reads the header in pieces and never the weights.

import { PosLabError } from "../errors.js";
import { kTensorNames } from "./gguf-config.js";
import type { Json } from "./reader.js";

/** Bytes that can be had piece by piece: a Blob, or a file behind the same two members. */
export interface ByteSource {
  readonly size: number;
  slice(begin: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** Metadata as it stands in the file, with the names of the tensors under `kTensorNames`. */
export async function readGgufMetadata(source: ByteSource): Promise<Json> {
  const { gguf } = await import("@huggingface/gguf");
  // The reader asks for ranges of a web address; here they come from the bytes at hand, and nothing goes out.
  const slice = async (_: unknown, request?: RequestInit): Promise<Response> => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(new Headers(request?.headers).get("Range") ?? "") ?? [];
    const begin = Number(first);
    const end = Math.min(Number(last) + 1, source.size);
    return new Response(begin < end ? await source.slice(begin, end).arrayBuffer() : new ArrayBuffer(0));
  };
  try {
    const {
      metadata: typed,
      tensorInfos,
      tensorInfoByteRange,
    } = await gguf("https://gguf.invalid/", {
      fetch: slice as typeof fetch,
    });
    // The reader takes zeros for what is not there: a header that reaches past the file's end was cut off.
    if (tensorInfoByteRange[1] > source.size) throw formatError("it ends inside its header");
    const metadata: Json = { ...typed };
    if (typeof metadata["general.architecture"] !== "string")
      throw formatError("general.architecture is missing, after which the other keys are named");
    const names = tensorInfos.map(({ name }) => name);
    return { ...metadata, [kTensorNames]: names };
  } catch (error) {
    if (error instanceof PosLabError) throw error;
    throw formatError(error instanceof Error ? error.message : String(error));
  }
}

function formatError(reason: string): PosLabError {
  return new PosLabError("format", `gguf: ${reason}`, { argument: "gguf" });
}
