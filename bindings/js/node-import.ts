// SPDX-License-Identifier: MIT
// Node's own modules where there is a Node. The names are put together at run time: bundlers for browsers must not look
// for them.

import type * as FileSystem from "node:fs/promises";
import type * as OperatingSystem from "node:os";
import type * as WorkerThreads from "node:worker_threads";

interface NodeModules {
  "fs/promises": typeof FileSystem;
  os: typeof OperatingSystem;
  worker_threads: typeof WorkerThreads;
}

/** False in browsers, also where a bundler has put in a `process` of its own. */
export const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);

export async function importNode<Name extends keyof NodeModules>(name: Name): Promise<NodeModules[Name]> {
  const address = ["node", name].join(":");
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ address)) as NodeModules[Name];
}
