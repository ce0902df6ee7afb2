// SPDX-License-Identifier: MIT
// One change to the glue that Emscripten writes: it imports Node's "module" by a literal name, which webpack refuses,
// esbuild refuses, and Vite answers with a stub and a warning. The import is reached under Node only, so the name is
// put together at run time, where no bundler looks for it.

import { Stop } from "./commands.mjs";

const kImport = /import\(\s*["'](?:node:)?module["']\s*\)/g;
const kHidden = 'import(/*webpackIgnore:true*//*@vite-ignore*/["node","module"].join(":"))';

export function adaptGlue(text, name) {
  const found = text.match(kImport)?.length ?? 0;
  if (found !== 1) {
    throw new Stop(
      `${name}: Emscripten's glue was expected to import "module" once and does ${found} times; see glue.mjs.`,
    );
  }
  return text.replace(kImport, kHidden);
}

/** One glue starts poslab.wasm and the smaller modules of that name: they import the same, and calls have one form. */
export function checkGlue(text, name, all) {
  if (text.replaceAll(`${name}.`, "poslab.") !== all)
    throw new Stop(`the glue of ${name}.wasm is not that of poslab.wasm any more; the package has only the latter.`);
}
