// SPDX-License-Identifier: MIT
// Starts the worker of the Attention page, in a file of the site so that the bundler finds it.

export const startThread = (): Worker => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
