// SPDX-License-Identifier: MIT
// Where things are: the project's own folders, and the folder in the user's cache that holds what the set-up fetches.
// Every other script takes its paths from here, so none is written down twice.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const projectRoot = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** package.json, as it is now. */
export const packageDescription = () => JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));

const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");

/** Shared by every clone of one user: compilers and texts that were fetched once. */
export const cacheRoot = join(cacheHome, "poslab");

/** The assembled Emscripten of systems whose own is too old; named by version so that a newer one does not mix in. */
export const emscriptenPrefix = (version) => join(cacheRoot, `emscripten-${version}`);

/** The unpacked files of Debian's fortunes-zh. */
export const poemsFolder = join(cacheRoot, "fortunes-zh");

/** Everything CMake makes; one folder per configuration inside. */
export const buildRoot = join(projectRoot, "build");

/** What was built from which inputs; see stamps.mjs. */
export const stampFolder = join(buildRoot, ".stamps");

/** Emscripten's output beside the TypeScript that loads it: the same relative path as in the package. */
export const wasmFolder = join(projectRoot, "bindings/js/wasm");

/** Texts that the site loads when chosen; copied by Vite as they are. */
export const corporaFolder = join(projectRoot, "web/public/corpora");

export const packageFolder = join(projectRoot, "dist");
export const siteFolder = join(projectRoot, "site");
export const nodeModules = join(projectRoot, "node_modules");
