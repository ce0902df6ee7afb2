// SPDX-License-Identifier: MIT
// A table without lines: columns apart by two spaces, which reads well in a terminal and in a pasted message alike.

import Table from "cli-table3";
import { colors } from "./colors.js";

/** Rows of cells under bold heads; cells may have several lines. */
export function borderless(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly ("left" | "right")[],
): string {
  const table = new Table({
    head: heads.map((head) => colors.bold(head)),
    colAligns: [...align],
    chars: {
      top: "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      bottom: "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      left: "",
      "left-mid": "",
      mid: "",
      "mid-mid": "",
      right: "",
      "right-mid": "",
      middle: "",
    },
    style: { "padding-left": 0, "padding-right": 2, head: [], border: [] },
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
