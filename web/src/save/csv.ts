// SPDX-License-Identifier: MIT
// Numbers as CSV with a header comment: what made them, and the link that shows them again. Nothing is rounded.

import { csvFormatRows } from "d3-dsv";

export type CsvCell = string | number | null | undefined;

export function csvText(comments: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  const body = csvFormatRows(
    rows.map((row) => row.map((cell) => (cell === null || cell === undefined ? "" : String(cell)))),
  );
  return [...comments.map((comment) => `# ${comment.replaceAll("\n", " ")}`), body, ""].join("\n");
}
