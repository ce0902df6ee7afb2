// SPDX-License-Identifier: MIT
// Four kinds of tests run by Vitest: the package and the command (tests/js), the page's own functions (beside them in
// web/src), the page's C++ programs (tests/consumer), and the built site in Chromium (tests/browser, driven through
// playwright-core from Node).

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { define, packageSources } from "./vite.config.ts";

const resolve = { alias: packageSources };

export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        test: { name: "package", include: ["tests/{js,cli}/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 120_000 },
      },
      {
        resolve,
        define,
        plugins: [svelte({ configFile: false })],
        test: { name: "page", include: ["web/src/**/*.test.ts"] },
      },
      {
        resolve,
        define,
        test: { name: "consumer", include: ["tests/consumer/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 600_000 },
      },
      {
        resolve,
        test: {
          name: "browser",
          include: ["tests/browser/**/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          // Pages train: two at once on two cores would time each other out.
          fileParallelism: false,
        },
      },
    ],
  },
});
