// SPDX-License-Identifier: MIT
// Runs the built command as a person would: a process of its own, with its output and exit status.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

export const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
const command = process.env["POSLAB_CLI"] ?? join(projectRoot, "dist/cli/main.js");

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}
export interface RunOptions {
  /** written to standard input */ input?: string;
  cwd?: string;
  env?: Record<string, string>;
}

export interface Started {
  child: ChildProcessWithoutNullStreams;
  ended: Promise<Ended>;
  /** Settles when standard error so far matches; rejects when the command ends before. */
  said(pattern: RegExp): Promise<void>;
}

export function startPoslab(words: readonly string[], options: RunOptions = {}): Started {
  const child = spawn(process.execPath, [command, ...words], {
    cwd: options.cwd ?? projectRoot,
    env: { ...process.env, FORCE_COLOR: undefined, ...options.env },
  });
  let stdout = "",
    stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {}); // the command may end before it has read everything
  child.stdin.end(options.input ?? "");
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return {
    child,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(stderr)) resolve();
        };
        child.stderr.on("data", look);
        child.on("close", () => reject(new Error(`ended without saying ${String(pattern)}: ${stderr}`)));
        look();
      }),
  };
}

export function poslab(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return startPoslab(words, options).ended;
}

/** The command with standard output going into an open file. */
export function poslabInto(stdout: number, words: readonly string[]): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [command, ...words], { encoding: "utf8", stdio: ["ignore", stdout, "pipe"] });
}

/** A folder that is gone when the file's tests are over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "poslab-cli-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
