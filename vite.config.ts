// SPDX-License-Identifier: MIT
// The playground: web/ built to site/, a static folder that works from any sub-path. The package is taken from its
// sources by its own name, so that the page uses the public API and nothing else.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const packageSources = [
  { find: /^poslab$/, replacement: at("bindings/js/index.ts") },
  { find: /^poslab\/(attention|run|worker|config|convert|models)$/, replacement: at("bindings/js/$1.ts") },
];

/** Names that the page's code uses and the build fills in (web/src/globals.d.ts). */
const { version } = JSON.parse(readFileSync(at("package.json"), "utf8")) as { version: string };
export const define = { __POSLAB_VERSION__: JSON.stringify(version) };

export default defineConfig({
  define,
  root: at("web"),
  base: "./",
  plugins: [svelte({ configFile: false })],
  resolve: { alias: packageSources },
  worker: { format: "es" },
  build: {
    outDir: at("site"),
    emptyOutDir: true,
    target: "es2022",
    // The page's Content-Security-Policy allows no data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The licences of what is bundled, served beside the page.
    license: { fileName: "third-party-notices.md" },
  },
  server: { fs: { allow: [at(".")] } },
});
