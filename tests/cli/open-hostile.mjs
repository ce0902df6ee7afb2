// SPDX-License-Identifier: MIT
// Opens each file named, as a model and as a config, and prints a line of JSON for it: what was said, how long it took, and
// by how many bytes the process has grown beyond what it had before (its peak). For hostile.test.ts, in a process of its
// own, started with --expose-gc.

import { readConfigFile } from "../../dist/js/config.js";
import { openModel } from "../../dist/js/models.js";

const [warm, ...files] = process.argv.slice(2);

async function tried(work) {
  try {
    await work();
    return "accepted";
  } catch (error) {
    return error.name === "PosLabError" ? error.message : `not a PosLabError: ${error.stack}`;
  }
}

const open = async (file) => {
  const model = await tried(async () => (await openModel(file, { config: undefined })).dispose());
  const config = await tried(() => readConfigFile(file));
  return { model, config };
};

// What is loaded once, the module of the core among it, is not the files'.
for (let time = 0; time < 3; time += 1) await open(warm);
for (const file of files) {
  globalThis.gc();
  const before = process.resourceUsage().maxRSS;
  const started = performance.now();
  const said = await open(file);
  const milliseconds = performance.now() - started;
  const grown = 1024 * (process.resourceUsage().maxRSS - before);
  process.stdout.write(`${JSON.stringify({ file, milliseconds, grown, ...said })}\n`);
}
