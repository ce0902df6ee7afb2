// SPDX-License-Identifier: MIT
// Where the benchmark keeps what it builds and installs; none of it is in the repository.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const benchFolder = dirname(fileURLToPath(import.meta.url));
export const peerModules = join(benchFolder, "node_modules");
const built = join(benchFolder, "built");

/** The module of kernels/, in both builds. */
export const kernelsFolder = join(built, "kernels");
/** The scripts that run in Node. */
export const nodeFolder = join(built, "node");
/** The page that Chromium opens, complete. */
export const pageFolder = join(built, "page");
/** Bundles that are weighed. */
export const sizeFolder = join(built, "size");
