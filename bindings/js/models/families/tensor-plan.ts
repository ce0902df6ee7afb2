// SPDX-License-Identifier: MIT
// Brings together the tensors that an architecture wants and those that the files have. Everything that does not fit
// (missing, surplus, of the wrong shape) is collected into one message before a number is read.

import { PosLabError } from "../../errors.js";
import type { Architecture, Stack, TensorPlace } from "../model-description.js";
import type { ModelFile, StoredTensor } from "../stored-tensor.js";
import type { Part, Place, Places } from "./family.js";

/** How one wanted tensor is made of a stored one. */
export interface LoadingStep {
  name: string;
  stored: StoredTensor;
  transposed: boolean;
  plusOne: boolean;
  /** rows of the stored tensor in their order: [first, last + 1] pairs; null: all */ rows: RowRange[] | null;
}
export type RowRange = [first: number, end: number];

/** Names that no family needs: caches and buffers that checkpoints carry along. */
const alwaysIgnored =
  /(^|\.)(rotary_emb\.inv_freq|inv_freq|position_ids|token_type_ids|masked_bias|attn\.bias|attention\.bias|rope_freqs\.weight)$/;

const fileLeaf: Record<string, string> = { weight: "weight", gain: "weight", table: "weight", bias: "bias" };

export interface PlanInput {
  wanted: readonly TensorPlace[];
  file: ModelFile;
  /** null: the files have the canonical names */ places: Places | null;
  prefix: string;
  ignored: RegExp | undefined;
  architecture: Architecture;
}

/** @throws PosLabError (shape) that names everything that does not fit. */
export function planLoading({ wanted, file, places, prefix, ignored, architecture }: PlanInput): LoadingStep[] {
  const steps: LoadingStep[] = [];
  const problems = { missing: [] as string[], misshapen: [] as string[] };
  const used = new Set<string>();
  for (const { name, shape } of wanted) {
    const stack = (name.startsWith("encoder.") ? architecture.encoder : architecture.decoder) ?? architecture.encoder!;
    const found = places ? findPlace(name, places, stack.layers) : { place: { from: name }, fileName: name };
    const stored = found && findStored(file, prefix, found.fileName);
    if (!found || !stored) {
      problems.missing.push(found ? prefix + found.fileName : name);
      continue;
    }
    used.add(stored.name);
    const { transposed, plusOne, part } = found.place;
    const rows = part ? rowsOf(part, stack, architecture) : null;
    const step = { name, stored, transposed: !!transposed && stored.shape.length === 2, plusOne: !!plusOne, rows };
    if (fits(shape, step)) steps.push(step);
    else problems.misshapen.push(misshapen(shape, step));
  }
  const surplus = [...file.tensors.keys()].filter((name) => {
    const own = name.startsWith(prefix) ? name.slice(prefix.length) : name;
    return !used.has(name) && !alwaysIgnored.test(name) && !ignored?.test(own);
  });
  complain(problems.missing, surplus, problems.misshapen);
  return steps;
}

function complain(missing: readonly string[], surplus: readonly string[], misshapen: readonly string[]): void {
  const list = (what: string, names: readonly string[], separator: string): string[] => {
    const shown = names.length > 8 ? [...names.slice(0, 8), `${names.length - 8} more`] : names;
    return names.length === 0 ? [] : [`${what}: ${shown.join(separator)}`];
  };
  const all = [
    ...list("missing", missing, ", "),
    ...list("not expected", surplus, ", "),
    ...list("of the wrong shape", misshapen, "; "),
  ];
  if (all.length > 0)
    throw new PosLabError("shape", `the tensors do not fit the config; ${all.join("; ")}`, { argument: "tensors" });
}

interface FoundPlace {
  place: Exclude<Place, string>;
  /** without the prefix */ fileName: string;
}

function findPlace(name: string, places: Places, layers: number): FoundPlace | undefined {
  const block = /(?<=(?:^|\.)blocks\.)\d+(?=\.)/.exec(name)?.[0];
  const pattern = block === undefined ? name : name.replace(`blocks.${block}.`, "blocks.{n}.");
  const dot = pattern.lastIndexOf(".");
  const exact = places[pattern];
  const given = exact ?? places[pattern.slice(0, dot)];
  if (given === undefined) return undefined;
  const place = typeof given === "string" ? { from: given } : given;
  const from = place.from
    .replace("{n}", block ?? "")
    .replace("{n+1}", String(Number(block) + 1))
    .replace("{end}", String(layers + 1));
  return { place, fileName: exact === undefined ? `${from}.${fileLeaf[pattern.slice(dot + 1)] ?? ""}` : from };
}

/** With the prefix that most names have, or as it stands. */
function findStored(file: ModelFile, prefix: string, fileName: string): StoredTensor | undefined {
  return file.tensors.get(prefix + fileName) ?? file.tensors.get(fileName);
}

/** The rows of one part; the last pair ends where the whole tensor must. */
function rowsOf({ index, groups, sizes }: Part, stack: Stack, architecture: Architecture): RowRange[] {
  const rows = sizes(stack, architecture);
  const group = rows.reduce((sum, count) => sum + count, 0);
  const before = rows.slice(0, index).reduce((sum, count) => sum + count, 0);
  return Array.from({ length: groups(stack) }, (_, place) => {
    const first = place * group + before;
    return [first, first + rows[index]!];
  });
}

function misshapen(wanted: readonly number[], { name, stored, rows }: LoadingStep): string {
  const needed = rows ? `rows ${rows[0]![0]} to ${rows.at(-1)![1]} of it` : "it";
  return `${stored.name} is [${stored.shape.join(", ")}], and ${needed} must give ${name} [${wanted.join(", ")}]`;
}

/** The same numbers in the same rows: axes of one in front do not matter, nor how the rest of a row is folded. */
function fits(wanted: readonly number[], { stored, transposed, rows }: LoadingStep): boolean {
  const shape = transposed ? [...stored.shape].reverse() : stored.shape;
  const have = shape.slice(
    Math.max(
      0,
      shape.findIndex((extent) => extent !== 1),
    ),
  );
  const count = (extents: readonly number[]): number => extents.reduce((product, extent) => product * extent, 1);
  if (rows) {
    if (rows.at(-1)![1] > have[0]!) return false;
    have[0] = rows.reduce((sum, [first, end]) => sum + end - first, 0);
  }
  const wantedRows = wanted.find((extent) => extent !== 1) ?? 1;
  return count(wanted) === count(have) && (have[0] ?? 1) === wantedRows;
}
