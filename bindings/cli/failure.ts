// SPDX-License-Identifier: MIT
// How the command fails: one clear line on standard error and an exit status, never a stack trace for something that a
// person can put right.

/**
 * 0 done; 1 done, but something in it failed (a case, a run); 2 could not be done as asked (an option, a file, not a case);
 * 130 interrupted, what was done is kept.
 */
export const exitStatus = { done: 0, failed: 1, refused: 2, interrupted: 130 } as const;

/** An expected end: the message is for the person, complete as it is. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number = exitStatus.refused,
  ) {
    super(message);
  }
}

/** True for the errors that the package makes for its callers; by name, so that nothing has to be loaded to ask. */
export function isPosLabError(error: unknown): error is Error & { code: string; argument?: string } {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.name === "PosLabError" || error.name === "ExperimentInterrupted")
  );
}

const fileProblems: Record<string, string> = {
  ENOENT: "there is no such file or folder",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  EMFILE: "too many files are open",
};

/** What the system said about a file, in words. */
export function fileProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  return fileProblems[code] ?? (error instanceof Error ? error.message : String(error));
}

/** A message on one line: what goes to standard error. */
export function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ");
}
