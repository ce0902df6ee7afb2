// SPDX-License-Identifier: MIT
// Reading and writing files with messages that name them. Results are written beside their place and renamed, so that an
// interrupted write never leaves half a file under the final name.

import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname } from "node:path";
import { jsonProblem } from "./arguments.js";
import { Refusal, fileProblem } from "./failure.js";

export function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    throw new Refusal(`${shown(path)} cannot be read: ${fileProblem(error)}`);
  }
}

/** JSON from a file, or from standard input for "-". */
export function readJson(path: string): unknown {
  const bytes = readBytes(path);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(`${shown(path)} is not JSON: it is not UTF-8 text`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(`${shown(path)} is not JSON: ${text.trim() === "" ? "it is empty" : jsonProblem(error, text)}`);
  }
}

function shown(path: string): string {
  return path === "-" ? "standard input" : path;
}

/** Whether there is a file (not a folder) of that name. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Asks before hours of work, not after, whether a file can be written there. */
export function checkWritable(path: string, option: string): void {
  if (isFolder(path)) throw new Refusal(`option '${option}': ${path} is a folder, and the name of a file is needed`);
  const folder = dirname(path);
  if (!isFolder(folder)) throw new Refusal(`option '${option}': there is no folder ${folder}`);
  try {
    accessSync(isFile(path) ? path : folder, constants.W_OK);
  } catch (error) {
    throw new Refusal(`option '${option}': ${path} cannot be written: ${fileProblem(error)}`);
  }
}

export function makeFolder(path: string, option: string): void {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new Refusal(`option '${option}': the folder ${path} cannot be made: ${fileProblem(error)}`);
  }
}

export function writeWhole(path: string, content: string | Uint8Array): void {
  const beside = `${path}.${process.pid}.part`;
  try {
    // A pipe or a device cannot be replaced by a rename.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
      writeFileSync(path, content);
      return;
    }
    writeFileSync(beside, content);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new Refusal(`${path} cannot be written: ${fileProblem(error)}`);
  }
}

export function removeIfThere(path: string): void {
  rmSync(path, { force: true });
}

/** Allows only paths whose ending is one of `formats` ("json", "csv", ...). */
export function formatOf<F extends string>(path: string, formats: readonly F[], option: string): F {
  const ending = extname(path).slice(1).toLowerCase();
  const format = formats.find((name) => name === ending);
  if (!format) {
    throw new Refusal(
      `option '${option}': ${path} ends in ${ending ? `.${ending}` : "nothing"}; allowed are ${formats.map((name) => `.${name}`).join(", ")}`,
    );
  }
  return format;
}
