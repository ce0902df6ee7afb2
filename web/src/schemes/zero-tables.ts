// SPDX-License-Identifier: MIT
// A table that training starts from zeros (CoPE's) would show nothing. Wherever start values are drawn, such a table gets
// random rows of length 1 instead. Other zeros are a start that shows something: no shift, no phase.

import type { Tensor } from "../engine/poslab.js";

const kName = "table";

/** The tensors, with a table of zeros filled from `normal`. */
export function withTables(tensors: Readonly<Record<string, Tensor>>, normal: () => number): Record<string, Tensor> {
  const table = tensors[kName];
  if (!table || table.data.some((entry) => entry !== 0)) return { ...tensors };
  const size = 1 / Math.sqrt(table.shape.at(-1)!);
  return { ...tensors, [kName]: { ...table, data: Float32Array.from(table.data, () => size * normal()) } };
}
