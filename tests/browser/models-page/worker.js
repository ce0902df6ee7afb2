// SPDX-License-Identifier: MIT
// Opens a model, measures its loss by position and disposes of it. Every memory of a module is watched weakly, so that the
// page can be told how much of it is still held.

import { openModel } from "poslab/models";

const memories = [];
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...given) => {
  const made = await instantiate(...given);
  const { exports } = made.instance ?? made;
  const memory = Object.values(exports).find((value) => value instanceof WebAssembly.Memory);
  memories.push(new WeakRef(memory));
  return made;
};

/** Bytes of modules that something still refers to, after a collection. */
async function held() {
  // A finalizer may let something go in its turn.
  for (let turn = 0; turn < 4; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
  }
  return memories.reduce((sum, memory) => sum + (memory.deref()?.buffer.byteLength ?? 0), 0);
}

onmessage = async ({ data: files }) => {
  try {
    const progress = [];
    const model = await openModel(files, { onProgress: ({ bytes }) => progress.push(bytes) });
    const { vocabulary, trainedLength } = model.info.architecture;
    const ids = Int32Array.from({ length: 2 * trainedLength }, (_, place) => (5 * place * place + place) % vocabulary);
    const { byPosition, loss } = await model.lossByPosition(ids, { window: trainedLength });
    const open = await held();
    model.dispose();
    postMessage({
      modelType: model.info.modelType,
      loss,
      byPosition: [...byPosition],
      progress: progress.length,
      held: { open, disposed: await held() },
    });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
