// SPDX-License-Identifier: MIT
// Prints the environment in which CMake's `wasm` preset and emcc work, for a shell:
// eval "$(node bindings/toolchain/environment.mjs)"

import { wasmEnvironment } from "./build.mjs";
import { main, say } from "./commands.mjs";

await main(() => {
  for (const [name, value] of Object.entries(wasmEnvironment())) {
    if (process.env[name] !== value) say(`export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  }
});
