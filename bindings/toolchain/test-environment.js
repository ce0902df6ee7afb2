// SPDX-License-Identifier: MIT
// Linked in front of the WebAssembly test program: hands the POSLAB_* variables of Node's environment to getenv.
Module.preRun = [
  () => {
    for (const [name, value] of Object.entries(process.env)) {
      if (name.startsWith("POSLAB_")) ENV[name] = value;
    }
  },
];
