// SPDX-License-Identifier: MIT
// A file as bytes that are read piece by piece, however large it is.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { ByteSource } from "../js/config.js";
import { fileProblem, Refusal } from "./failure.js";
import { isFolder } from "./files.js";

/** The bytes of a file, piece by piece. */
export function openBytes(path: string): ByteSource {
  if (isFolder(path)) throw new Refusal(`${path} is a folder, and the name of a file is needed`);
  try {
    return {
      size: statSync(path).size,
      slice: (begin, end) => ({ arrayBuffer: async () => readPart(path, begin, end) }),
    };
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${fileProblem(error)}`);
  }
}

function readPart(path: string, begin: number, end: number): ArrayBuffer {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = new Uint8Array(end - begin);
      const count = readSync(file, bytes, 0, bytes.length, begin);
      return bytes.buffer.slice(0, count);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${fileProblem(error)}`);
  }
}
