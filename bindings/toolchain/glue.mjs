// SPDX-License-Identifier: MIT
// One change to the glue that Emscripten writes: it names its module by `new URL("poslab.wasm", import.meta.url)`, where
// bundlers see it and put a module into somebody's site that nothing asks for. The typed layer always hands over the
// compiled module (js/wasm-module.ts), so the glue's own address is a plain name.

import { Stop } from "./commands.mjs";

const kAddress = /new URL\(("[^"]+\.wasm"),\s*import\.meta\.url\)\.href/g;

export function adaptGlue(text, name) {
  const found = text.match(kAddress)?.length ?? 0;
  if (found !== 1) {
    throw new Stop(
      `${name}: Emscripten's glue was expected to name its module once and does ${found} times; see glue.mjs.`,
    );
  }
  return text.replace(kAddress, "$1");
}

/** One glue starts poslab.wasm and the smaller modules of that name: they import the same, and calls have one form. */
export function checkGlue(text, name, all) {
  if (text.replaceAll(`${name}.`, "poslab.") !== all)
    throw new Stop(`the glue of ${name}.wasm is not that of poslab.wasm any more; the package has only the latter.`);
}
