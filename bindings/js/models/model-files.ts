// SPDX-License-Identifier: MIT
// Finds out what the files are that a person has given: weights (by their first bytes), config.json, tokenizer, index of
// shards. A path stands for a file and what lies beside it, or for a folder.

import { PosLabError, wrongArgument } from "../errors.js";
import { readLlama2cHeader } from "../config/llama2c.js";
import { parsePythonJson } from "../config/text.js";
import { importNode, isNode } from "../node-import.js";
import type { ByteSource } from "../byte-source.js";
import { cannotRead, fileName, type FileLike, openSource } from "../byte-source.js";
import { readGgufFile } from "./gguf-file.js";
import { readLlama2cFile } from "./llama2c-file.js";
import { joinShards, readSafetensorsFile } from "./safetensors-file.js";
import type { ModelFile } from "./stored-tensor.js";

/** What was found. Sources stay open until `close`. */
export interface ModelFiles {
  weights: ModelFile;
  config: unknown;
  tokenizer: unknown;
  tokenizerConfig: unknown;
  generationConfig: unknown;
  /** llama2.c's tokenizer.bin */ pieces: Uint8Array | null;
  /** of all files of weights, in bytes */ size: number;
  close(): Promise<void>;
}

type Kind = "safetensors" | "gguf" | "llama2.c" | "pieces" | "json";
/** The largest JSON that is read: tokenizers have tens of megabytes. */
const largestJson = 2 ** 27;

export interface GivenFiles {
  files: FileLike | readonly FileLike[];
  config?: FileLike | object | undefined;
  tokenizer?: FileLike | object | undefined;
}

/** Opens everything and reads headers and small files. @throws PosLabError that names the file. */
export async function openModelFiles(given: GivenFiles, signal?: AbortSignal): Promise<ModelFiles> {
  const paths = await expand(given.files);
  if (paths.length === 0) throw wrongArgument("missing", "files", undefined, "at least one file");
  const sources: ByteSource[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sources.map((source) => source.close()));
  };
  const open = async (file: FileLike, argument: string): Promise<ByteSource> => {
    const source = await openSource(file, argument);
    sources.push(source);
    return source;
  };
  try {
    const found = await sortOut(await Promise.all(paths.map((path) => open(path, "files"))), signal);
    const files = { ...found, close };
    if (given.config !== undefined) files.config = await readGiven(given.config, "config", open, signal);
    if (given.tokenizer !== undefined) await useTokenizer(files, given.tokenizer, open, signal);
    return files;
  } catch (error) {
    await close();
    throw error;
  }
}

type Open = (file: FileLike, argument: string) => Promise<ByteSource>;

/** A file to read JSON from, or the object itself. */
async function readGiven(
  given: FileLike | object,
  argument: string,
  open: Open,
  signal?: AbortSignal,
): Promise<unknown> {
  const isPlain = typeof given === "object" && Object.getPrototypeOf(given) === Object.prototype;
  if (isPlain && !("name" in given && ("data" in given || "read" in given))) return given;
  return parseJson(await open(given as FileLike, argument), signal);
}

async function useTokenizer(
  files: ModelFiles,
  given: FileLike | object,
  open: Open,
  signal?: AbortSignal,
): Promise<void> {
  if (typeof given === "object" && Object.getPrototypeOf(given) === Object.prototype && "model" in given) {
    files.tokenizer = given;
    return;
  }
  const source = await open(given as FileLike, "tokenizer");
  const start = await source.read(0, Math.min(1, source.size), signal);
  if (start[0] === brace) files.tokenizer = await parseJson(source, signal);
  else files.pieces = await source.readAll(largestJson, signal);
}

async function sortOut(sources: readonly ByteSource[], signal?: AbortSignal): Promise<Omit<ModelFiles, "close">> {
  const found: Omit<ModelFiles, "close" | "weights"> = {
    config: null,
    tokenizer: null,
    tokenizerConfig: null,
    generationConfig: null,
    pieces: null,
    size: 0,
  };
  const weights: [string, ModelFile][] = [];
  let index: unknown;
  for (const source of sources) {
    const kind = await kindOf(source, signal);
    if (kind === "json") {
      const json = await parseJson(source, signal);
      const role = roleOf(source.name, json);
      if (role === "index") index = json;
      else if (role) found[role] = json;
    } else if (kind === "pieces") found.pieces = await source.readAll(largestJson, signal);
    else {
      found.size += source.size;
      weights.push([source.name, await readWeights(kind, source, signal)]);
    }
  }
  return { ...found, weights: joinWeights(weights, index) };
}

function readWeights(
  kind: "safetensors" | "gguf" | "llama2.c",
  source: ByteSource,
  signal?: AbortSignal,
): Promise<ModelFile> {
  const readers = { safetensors: readSafetensorsFile, gguf: readGgufFile, "llama2.c": readLlama2cFile };
  return readers[kind](source, signal);
}

function joinWeights(weights: readonly [string, ModelFile][], index: unknown): ModelFile {
  const [first] = weights;
  if (!first)
    throw new PosLabError("missing", "files: no weights were given (safetensors, GGUF or llama2.c .bin)", {
      argument: "files",
    });
  if (weights.every(([, { format }]) => format === "safetensors") && (weights.length > 1 || index !== undefined))
    return joinShards(weights, index);
  if (weights.length > 1)
    throw new PosLabError(
      "contradiction",
      `files: ${weights.map(([name]) => name).join(", ")} are several models; one at a time can be opened`,
      { argument: "files" },
    );
  return first[1];
}

const brace = 0x7b;
/** What tells files apart. */
const headBytes = 64;

/** By the first bytes, and by the name where they do not say. */
async function kindOf(source: ByteSource, signal?: AbortSignal): Promise<Kind> {
  const start = await source.read(0, Math.min(headBytes, source.size), signal);
  const begins = (...bytes: number[]): boolean => bytes.every((byte, index) => start[index] === byte);
  const name = source.name.toLowerCase();
  if (begins(0x47, 0x47, 0x55, 0x46) || name.endsWith(".gguf")) return "gguf";
  if (name.endsWith(".safetensors")) return "safetensors";
  if (begins(brace) || name.endsWith(".json")) return "json";
  if (begins(0x50, 0x4b, 3, 4) || begins(0x80, 2) || /\.(pt|pth|ckpt)$/.test(name))
    throw new PosLabError(
      "format",
      `${source.name}: PyTorch's own format can hold programs and is not read; save the weights as safetensors`,
      { argument: "files" },
    );
  if (start[8] === brace) return "safetensors";
  if (/^tok.*\.bin$|\.tokenizer$/.test(name)) return "pieces";
  // Version 0 of it has no mark of its own.
  if (name.endsWith(".bin") || readLlama2cHeader(start, source.size)) return "llama2.c";
  throw new PosLabError(
    "format",
    `${source.name || "a file"} is none of a model: neither safetensors, GGUF nor llama2.c by its first bytes, and no JSON`,
    { argument: "files" },
  );
}

async function parseJson(source: ByteSource, signal?: AbortSignal): Promise<unknown> {
  const bytes = await source.readAll(largestJson, signal);
  try {
    return parsePythonJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PosLabError("format", `${source.name || "a file"} is not JSON: ${reason}`, { argument: "files", cause });
  }
}

type Role = "config" | "tokenizer" | "tokenizerConfig" | "generationConfig" | "index";

/** By its name, or else by what is in it. */
function roleOf(name: string, json: unknown): Role | undefined {
  if (/\.index\.json$/.test(name)) return "index";
  const named: Record<string, Role> = {
    "config.json": "config",
    "tokenizer.json": "tokenizer",
    "tokenizer_config.json": "tokenizerConfig",
    "generation_config.json": "generationConfig",
  };
  const known = named[name];
  if (known) return known;
  if (typeof json !== "object" || json === null) return undefined;
  if ("weight_map" in json) return "index";
  if ("model_type" in json) return "config";
  if ("model" in json && typeof json.model === "object") return "tokenizer";
  return undefined;
}

async function expand(files: FileLike | readonly FileLike[]): Promise<readonly FileLike[]> {
  if (Array.isArray(files)) return files as readonly FileLike[];
  const one = files as FileLike;
  if (!isNode || !(typeof one === "string" || one instanceof URL)) return [one];
  const { stat } = await importNode("fs/promises");
  const isFolder = await stat(one).then(
    (entry) => entry.isDirectory(),
    (cause: unknown) => {
      throw cannotRead(one, cause);
    },
  );
  const path = one instanceof URL ? decodeURIComponent(one.pathname) : one;
  if (isFolder) return fromFolder(path);
  const name = fileName(path);
  // One shard, or the index, stands for the whole checkpoint.
  const isPart = indexName.test(name) || shardName.test(name);
  return isPart ? fromFolder(path.slice(0, path.length - name.length) || ".") : withCompanions(path);
}

const indexName = /\.safetensors\.index\.json$/,
  shardName = /-\d{5}-of-\d{5}\.safetensors$/;

const companions = ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"];

async function namesIn(folder: string): Promise<Set<string>> {
  const { readdir } = await importNode("fs/promises");
  return new Set(await readdir(folder));
}

/** The one model of a folder with its small files. */
async function fromFolder(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  const all = [...names].sort();
  const at = (name: string): string => `${folder.replace(/[/\\]$/, "")}/${name}`;
  const index = all.find((name) => indexName.test(name));
  const shards = all.filter((name) => shardName.test(name));
  const candidates = [
    shards.length > 0 || index ? shards : [],
    all.filter((name) => name === "model.safetensors"),
    all.filter((name) => /\.safetensors$/.test(name) && name !== "reference.safetensors"),
    all.filter((name) => /\.gguf$/.test(name)),
    all.filter((name) => /\.bin$/.test(name) && !/^tok/.test(name)),
  ];
  const weights = candidates.find((group) => group.length > 0) ?? [];
  if (weights.length === 0)
    throw new PosLabError("missing", `${folder}: there are no weights in it (safetensors, GGUF or llama2.c .bin)`, {
      argument: "files",
    });
  if (weights.length > 1 && weights !== shards)
    throw new PosLabError("contradiction", `${folder} has several models: ${weights.join(", ")}; name one of them`, {
      argument: "files",
    });
  const beside = [...companions.filter((name) => names.has(name)), ...(index ? [index] : [])];
  const pieces = weights[0]!.endsWith(".bin") ? all.filter((name) => /^tok.*\.bin$/.test(name)).slice(0, 1) : [];
  return [...weights, ...beside, ...pieces].map(at);
}

/** A file of weights, and what lies beside it that such a file does not hold itself. */
async function withCompanions(path: string): Promise<string[]> {
  const name = fileName(path);
  const folder = path.slice(0, path.length - name.length);
  const wanted = name.endsWith(".safetensors") ? companions : name.endsWith(".bin") ? [/^tok.*\.bin$/] : [];
  if (wanted.length === 0) return [path];
  const names = [...(await namesIn(folder === "" ? "." : folder))].sort();
  const beside = names.filter(
    (other) => other !== name && wanted.some((want) => (typeof want === "string" ? want === other : want.test(other))),
  );
  return [path, ...(name.endsWith(".bin") ? beside.slice(0, 1) : beside).map((other) => folder + other)];
}
