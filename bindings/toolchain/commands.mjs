// SPDX-License-Identifier: MIT
// Running other programs, and stopping with a message a person can act on. A `Stop` is an expected end (a missing
// permission, a failed download): it is printed without a stack trace, and the exit status is 1.

import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectRoot } from "./locations.mjs";

/** Of a quiet program that failed; its end is where it says why. */
const kLinesOnFailure = 60;

export class Stop extends Error {}

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** The full path of a program on the PATH, or null. */
export function findProgram(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const candidate = join(folder || ".", name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // not here
    }
  }
  return null;
}

/** Standard output of a program that is expected to be quick; null when it is missing or fails. */
export function output(program, programArguments, options = {}) {
  const result = spawnSync(program, programArguments, { encoding: "utf8", cwd: projectRoot, ...options });
  return result.status === 0 ? result.stdout.trim() : null;
}

/**
 * Runs a program and waits for it; its output goes to this terminal. `capture` also returns standard output; `quiet`
 * shows what it wrote only when it fails. Ctrl-C reaches the child through the terminal's process group.
 */
export async function run(program, programArguments, { failure, capture = false, quiet = false, ...options } = {}) {
  const piped = capture || quiet;
  const child = spawn(program, programArguments, {
    cwd: projectRoot,
    stdio: ["ignore", piped ? "pipe" : "inherit", quiet ? "pipe" : "inherit"],
    ...options,
  });
  let text = "";
  const collect = (chunk) => {
    text += chunk;
    if (!quiet) process.stdout.write(chunk);
  };
  child.stdout?.setEncoding("utf8").on("data", collect);
  child.stderr?.setEncoding("utf8").on("data", collect);
  const status = await new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Stop(`${program} could not be started: ${error.message}`)));
    child.on("close", (code, signal) => resolve(signal ? `signal ${signal}` : code));
  });
  if (status !== 0) {
    if (quiet) process.stderr.write(text.split("\n").slice(-kLinesOnFailure).join("\n"));
    const stop = new Stop(failure ?? `"${[program, ...programArguments].join(" ")}" ended with status ${status}`);
    throw Object.assign(stop, { output: text });
  }
  return text;
}

/** The body of a script that a person starts: reports a Stop plainly and sets the exit status. */
export async function main(body) {
  try {
    await body(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    process.stderr.write(`\nposlab: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/** True when the module with this URL is the script that was started. */
export function isMain(url) {
  return process.argv[1] !== undefined && url === pathToFileURL(realpathSync(process.argv[1])).href;
}

/** Compares dotted version numbers: negative, zero or positive. */
export function compareVersions(left, right) {
  const a = left.split(".").map(Number);
  const b = right.split(".").map(Number);
  for (let part = 0; part < Math.max(a.length, b.length); part += 1) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
