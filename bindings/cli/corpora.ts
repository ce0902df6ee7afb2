// SPDX-License-Identifier: MIT
// The text that an experiment trains on: built into the package, a file that the experiment names, or the option's file.

import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CompleteExperiment } from "../js/types.js";
import { Refusal } from "./failure.js";
import { isFile, readBytes } from "./files.js";

interface BuiltIn {
  id: string;
  file: string;
}

export interface CorpusText {
  name: string;
  bytes: Uint8Array;
  /** the file it came from; undefined for built-in ones */ file?: string;
}

/** In the package beside the commands; in a working tree where the page has them. */
const folders = ["../corpora/", "../../web/public/corpora/"].map((path) => new URL(path, import.meta.url));

function builtIn(): { folder: URL; list: BuiltIn[] } {
  for (const folder of folders) {
    try {
      return { folder, list: JSON.parse(readFileSync(new URL("corpora.json", folder), "utf8")) as BuiltIn[] };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return { folder: folders[0]!, list: [] };
}

/** A text by the option --corpus: a file goes before a built-in name. */
export function corpusFromOption(name: string): CorpusText {
  if (isFile(name)) return { name: basename(name), bytes: readBytes(name), file: name };
  const text = builtInText(name);
  if (text) return text;
  throw new Refusal(`option '--corpus': there is no file ${name}, and ${builtInNames()}`);
}

/**
 * The text of an experiment that names one; null for toy tasks and experiments that bring their own text.
 * @param beside where files are looked for: the folder of the experiment, then the current one
 */
export function corpusOf(experiment: CompleteExperiment, beside: string | null): CorpusText | null {
  const { task } = experiment;
  if (task.type !== "text" || task.corpus === undefined) return null;
  const name = task.corpus;
  const text = builtInText(name);
  if (text) return text;
  for (const path of [...(beside === null ? [] : [join(beside, name)]), name]) {
    if (isFile(path)) return { name, bytes: readBytes(path), file: path };
  }
  throw new Refusal(
    `task.corpus: there is no file ${name}${beside === null ? "" : ` beside the experiment`}, and ${builtInNames()}; --corpus FILE gives it`,
  );
}

/** The folder of an experiment file; null for standard input and the built-in experiment. */
export function folderOf(path: string | undefined): string | null {
  return path === undefined || path === "-" ? null : dirname(path);
}

function builtInText(name: string): CorpusText | null {
  const { folder, list } = builtIn();
  const entry = list.find(({ id }) => id === name);
  return entry ? { name, bytes: readFileSync(new URL(entry.file, folder)) } : null;
}

function builtInNames(): string {
  const { list } = builtIn();
  return list.length
    ? `the built-in texts are ${list.map(({ id }) => id).join(", ")}`
    : "there are no built-in texts in this installation";
}
