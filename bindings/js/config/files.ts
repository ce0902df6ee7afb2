// SPDX-License-Identifier: MIT
// What kind of file it is that holds a config: JSON, GGUF or a llama2.c checkpoint, told by its first bytes.

import { type ByteSource, type FileLike, openSource } from "../byte-source.js";
import { PosLabError } from "../errors.js";
import { readLlama2cHeader } from "./llama2c.js";
import type { Json } from "./reader.js";

/** A config.json of more bytes than this is none. */
const kLargestJson = 16 * 2 ** 20;
const kHeaderBytes = 64;

/** The JSON text, the GGUF metadata or the llama2.c header of a file, as `explainConfig` takes it. */
export async function readConfigFile(file: FileLike): Promise<string | Json> {
  const source = await openSource(file, "config");
  try {
    return await readSource(source);
  } finally {
    await source.close();
  }
}

async function readSource(source: ByteSource): Promise<string | Json> {
  const head = await source.read(0, Math.min(kHeaderBytes, source.size));
  const magic = String.fromCharCode(...head.subarray(0, 4));
  if (magic === "GGUF") return (await import("./gguf.js")).readGgufMetadata(source);
  if (firstCharacter(head) === "{") return readText(source);
  const llama2c = readLlama2cHeader(head, source.size);
  if (llama2c) return llama2c;
  throw new PosLabError(
    "format",
    source.size === 0
      ? "config: the file is empty"
      : "config: the file is neither JSON (an object), nor GGUF, nor a llama2.c checkpoint",
    { argument: "config" },
  );
}

function firstCharacter(head: Uint8Array): string {
  return new TextDecoder().decode(head).trimStart()[0] ?? "";
}

async function readText(source: ByteSource): Promise<string> {
  if (source.size > kLargestJson)
    throw new PosLabError("format", `config: ${source.size} bytes are no config.json; ${kLargestJson} are the most`, {
      argument: "config",
    });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await source.read(0, source.size));
  } catch {
    throw new PosLabError("format", "config: the file is not UTF-8 text", { argument: "config" });
  }
}
