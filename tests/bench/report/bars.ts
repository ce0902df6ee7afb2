// SPDX-License-Identifier: MIT
// The main tables as bars: a group a table, a bar a row, our own in another colour, the limit as a line.

import { max } from "d3-array";
import { scaleLinear } from "d3-scale";
import { coordinate, escapeXml, lightTheme, svgDocument } from "../../../bindings/js/svg-text.js";
import type { Table } from "../measure/place.js";
import type { Row } from "../measure/timing.js";
import { tablesOf, type Results } from "./results.js";
import { short } from "./markdown.js";

const kShown = ["attention/full/1024", "attention/causal/1024", "training"];
const kWidth = 760;
const kNames = 330;
const kNumbers = 90;
const kBar = 16;
const kGap = 6;
const kTitle = 34;
const kOurs = "#0060a8";
const kPeer = "#9a9aa2";
const kLimit = "#c8501e";

/** Of the training table only the model without positions, which peers train too. */
function rowsOf({ id, rows }: Table): Row[] {
  const timed = rows.filter(({ rate, kind }) => rate !== null && kind !== "limit");
  return id === "training" ? timed.filter(({ kind, name }) => kind === "peer" || name.endsWith(", none")) : timed;
}

function group(table: Table, top: number): { body: string[]; height: number } {
  const rows = rowsOf(table).sort((a, b) => b.rate! - a.rate!);
  const limit = max(
    table.rows.filter(({ kind }) => kind === "limit"),
    ({ rate }) => rate ?? 0,
  );
  const greatest = Math.max(max(rows, ({ rate }) => rate!) ?? 1, limit ?? 0);
  const length = scaleLinear([0, greatest], [0, kWidth - kNames - kNumbers]);
  // The model's shape after the colon has no room here.
  const title = `${table.title.split(":")[0]}, ${table.engine} (${table.unit})`;
  const bottom = top + kTitle + rows.length * (kBar + kGap);
  const body = [`<text x="12" y="${top + 20}" font-weight="600">${escapeXml(title)}</text>`];
  rows.forEach(({ name, kind, rate }, index) => {
    const y = top + kTitle + index * (kBar + kGap);
    const width = coordinate(length(rate!));
    body.push(
      `<text x="${kNames - 8}" y="${y + 12}" text-anchor="end">${escapeXml(name)}</text>`,
      `<rect x="${kNames}" y="${y}" width="${width}" height="${kBar}" fill="${kind === "ours" ? kOurs : kPeer}"/>`,
      `<text x="${coordinate(kNames + length(rate!) + 6)}" y="${y + 12}" fill="${lightTheme.faint}">${short(rate)}</text>`,
    );
  });
  if (limit !== undefined && limit > 0) {
    const x = coordinate(kNames + length(limit));
    body.push(
      `<line x1="${x}" x2="${x}" y1="${top + kTitle - 4}" y2="${bottom}" stroke="${kLimit}" stroke-dasharray="4 3"/>`,
      `<text x="${x}" y="${top + kTitle - 8}" text-anchor="end" fill="${kLimit}">limit ${short(limit)}</text>`,
    );
  }
  return { body, height: bottom - top };
}

/** An SVG document; without any of the tables it says so. */
export function barsOf(results: Results): string {
  const tables = tablesOf(results).filter(({ id }) => kShown.includes(id));
  const body: string[] = [];
  let height = 8;
  for (const table of tables) {
    const drawn = group(table, height);
    body.push(...drawn.body);
    height += drawn.height + 12;
  }
  if (tables.length === 0) {
    body.push(`<text x="12" y="28">No table of this run has bars: attention at L = 1024 and training have.</text>`);
    height = 48;
  }
  const { processor, date } = results.machine;
  const description = `Rates of PosLab and its peers, longer is faster. ${processor}, ${date} UTC.`;
  return svgDocument(kWidth, height, lightTheme, "PosLab beside its peers", description, body);
}
