#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The `poslab` command: starts the program of program.ts and turns whatever happens into one line and an exit status.

import { CommanderError } from "commander";
import { exitStatus, fileProblem, isPosLabError, oneLine, Refusal } from "./failure.js";
import { buildProgram } from "./program.js";

// `poslab ... | head` closes the pipe early: that is the reader's choice and no fault of ours. A full disk is a failure.
// Where only the progress has lost its reader, the work goes on: its files and its result may still be waited for.
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.exit(exitStatus.refused);
});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitStatus.done);
  process.stderr.write(`poslab: standard output cannot be written: ${fileProblem(error)}\n`);
  process.exit(exitStatus.refused);
});

function report(error: unknown): number {
  if (error instanceof Refusal || isPosLabError(error)) {
    process.stderr.write(`poslab: ${oneLine(error.message)}\n`);
    return error instanceof Refusal ? error.status : exitStatus.refused;
  }
  // A fault of the program itself: here the trace is what a report needs.
  process.stderr.write(
    `poslab: unexpected ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return exitStatus.refused;
}

const program = buildProgram(async (work) => {
  try {
    process.exitCode = await work();
  } catch (error) {
    process.exitCode = report(error);
  }
});

for (const command of [program, ...program.commands]) {
  command.exitOverride().configureOutput({
    outputError: (text, write) => {
      const message = oneLine(text.replace(/^error: /, ""))
        .replace(/\(Did you mean (.*?)\?\)$/, "(did you mean $1?)")
        .replace(/\.$/, "");
      write(`poslab: ${message}; see ${command === program ? "poslab" : `poslab ${command.name()}`} --help\n`);
    },
  });
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help and version end the same way, with status 0.
  process.exitCode = error.exitCode === 0 ? exitStatus.done : exitStatus.refused;
}
