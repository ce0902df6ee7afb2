// SPDX-License-Identifier: MIT
// Lint rules: the recommended sets for JavaScript, TypeScript and Svelte; layout is Prettier's business.

import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import typescript from "typescript-eslint";
import { defineConfig, globalIgnores } from "eslint/config";

const kUnderscore = { argsIgnorePattern: "^_", varsIgnorePattern: "^_" };

export default defineConfig(
  globalIgnores([
    "build/",
    "dist/",
    "site/",
    "node_modules/",
    "bindings/js/wasm/",
    "web/public/",
    "tests/consumer/build/",
    "tests/bench/built/",
  ]),
  js.configs.recommended,
  typescript.configs.recommended,
  svelte.configs.recommended,
  svelte.configs.prettier,
  { languageOptions: { globals: { ...globals.browser, ...globals.node, ...globals.worker } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: typescript.parser } },
  },
  {
    rules: {
      "@typescript-eslint/no-unused-vars": ["error", kUnderscore],
      "@typescript-eslint/consistent-type-imports": "error",
      eqeqeq: "error",
    },
  },
  {
    // Linked into the WebAssembly test program by Emscripten, which declares these.
    files: ["bindings/toolchain/test-environment.js"],
    languageOptions: { sourceType: "script", globals: { Module: "writable", ENV: "writable" } },
  },
);
