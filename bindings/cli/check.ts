// SPDX-License-Identifier: MIT
// `poslab check`: runs conformance cases one by one and counts them. A file that is no case is reported and does not end the run.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { checkCase } from "../js/check.js";
import { loadPosLab } from "../js/index.js";
import type { CaseResult } from "../js/run-types.js";
import { colors } from "./colors.js";
import { exitStatus, fileProblem, isPosLabError, oneLine, Refusal } from "./failure.js";
import { isFolder, readBytes } from "./files.js";

export async function check(paths: readonly string[], options: { json?: boolean }): Promise<number> {
  const lab = await loadPosLab();
  const counts = { passed: 0, failed: 0, notCases: 0 };
  const files = paths.map(expand);
  // A folder without cases is a wrong path, not a success.
  counts.notCases = files.filter((list) => list.length === 0).length;
  for (const path of files.flat()) {
    const result = await checkFile(path);
    if (result.op === kNoOperation) counts.notCases += 1;
    counts[result.passed ? "passed" : "failed"] += 1;
    process.stdout.write(`${options.json ? JSON.stringify(result) : line(result)}\n`);
  }
  if (!options.json) process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  if (counts.notCases > 0) return exitStatus.refused;
  return counts.failed > 0 ? exitStatus.failed : exitStatus.done;

  async function checkFile(path: string): Promise<CaseResult> {
    try {
      const result = checkCase(lab, readBytes(path));
      return { ...result, name: result.name || path };
    } catch (error) {
      if (!(error instanceof Refusal) && !isPosLabError(error)) throw error;
      return {
        name: path,
        op: kNoOperation,
        passed: false,
        maxAbsolute: null,
        maxRelative: null,
        message: error.message,
      };
    }
  }
}

/** The operation of a file that is no case. */
const kNoOperation = "";

/** A folder stands for the safetensors files in it, by name. */
function expand(path: string): string[] {
  if (!isFolder(path)) return [path];
  try {
    const files = readdirSync(path, { withFileTypes: true }).filter(
      (entry) => entry.name.endsWith(".safetensors") && !entry.isDirectory(),
    );
    if (files.length === 0) process.stderr.write(`poslab: there is no *.safetensors in ${path}\n`);
    return files.map(({ name }) => join(path, name)).sort();
  } catch (error) {
    throw new Refusal(`${path} cannot be read: ${fileProblem(error)}`);
  }
}

function line({ name, passed, maxAbsolute, maxRelative, message }: CaseResult): string {
  const parts = [passed ? colors.green("pass") : colors.red("fail"), name];
  if (maxAbsolute !== null) parts.push(`absolute ${short(maxAbsolute)}`);
  if (maxRelative !== null) parts.push(`relative ${short(maxRelative)}`);
  if (message) parts.push(message);
  return parts.map(oneLine).join("  ");
}

function short(error: number): string {
  return error === 0 ? "0" : Number.isFinite(error) ? error.toExponential(1) : String(error);
}
