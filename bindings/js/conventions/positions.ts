// SPDX-License-Identifier: MIT
// Conventions about where tokens stand: ids that begin elsewhere, distances of the other sign, ids in a narrow type.

import type { Case } from "../check-case.js";
import { type Convention, ids, numbersOf, withCall, withTensors } from "./change.js";

/** The ids of a call, by the names of its tensors: those of the file, or those that the call gives itself. */
function idsOf(item: Case): Record<string, number[]> {
  const { op, queryLength = 0, keyLength = 0, mask } = item.description;
  const given = (name: string): number[] | undefined => {
    const tensor = item.tensors.get(name);
    return tensor && numbersOf(tensor);
  };
  const count = (length: number, start = 0): number[] => Array.from({ length }, (_, index) => start + index);
  if (op === "rotate") return { "input.positions": given("input.positions") ?? [] };
  if (op === "buckets") return { "input.distances": given("input.distances") ?? [] };
  const queries = item.tensors.get("input.query")?.shape[1] ?? queryLength;
  const keys = item.tensors.get("input.key")?.shape[1] ?? keyLength;
  const start = mask?.alignment === "top-left" ? 0 : keys - queries;
  return {
    "input.queryPositions": given("input.queryPositions") ?? count(queries, start),
    "input.keyPositions": given("input.keyPositions") ?? count(keys),
  };
}

function changed(item: Case, label: string, change: (id: number, name: string) => number): Convention {
  const all = Object.entries(idsOf(item));
  return withTensors(
    item,
    label,
    Object.fromEntries(all.map(([name, values]) => [name, ids(values.map((id) => change(id, name)))])),
  );
}

export function positionConventions(item: Case): Convention[] {
  const { op, start = 0 } = item.description;
  if (op === "table")
    return [-1, 1, 2].map((shift) => withCall(item, `start: ${start + shift}`, { start: start + shift }));
  if (op === "buckets") return [changed(item, "distances i - j instead of j - i", (id) => -id)];
  if (op === "rotate")
    return [
      changed(item, "rotations by minus the position", (id) => -id),
      changed(item, "positions counted from 1", (id) => id + 1),
      changed(item, "positions one less", (id) => id - 1),
      changed(item, "position ids rounded to bfloat16", (id) => rounded(id, kBfloat16Bits)),
      changed(item, "position ids rounded to float16", (id) => rounded(id, kFloat16Bits)),
    ];
  if (op !== "bias" && op !== "attention" && op !== "attention-gradients") return [];
  const all = idsOf(item);
  const queries = all["input.queryPositions"]!;
  const keys = all["input.keyPositions"]!;
  const shift = queries[0] ?? 0;
  return [
    changed(item, "distances of the other sign (i - j)", (id) => -id),
    changed(item, "position ids rounded to bfloat16", (id) => rounded(id, kBfloat16Bits)),
    ...(shift !== 0
      ? [changed(item, "query positions from 0", (id, name) => (name === "input.keyPositions" ? id : id - shift))]
      : []),
    ...(shift === 0 && queries.length !== keys.length
      ? [
          changed(item, "query positions that end with the keys", (id, name) =>
            name === "input.keyPositions" ? id : id + keys.length - queries.length,
          ),
        ]
      : []),
    changed(item, "query positions one more than the keys'", (id, name) =>
      name === "input.keyPositions" ? id : id + 1,
    ),
    changed(item, "query positions one less than the keys'", (id, name) =>
      name === "input.keyPositions" ? id : id - 1,
    ),
  ];
}

/** Significant bits of the narrow types, the hidden one included. */
const kBfloat16Bits = 8;
const kFloat16Bits = 11;

/** A whole number rounded to so many significant bits, halves to even. */
function rounded(id: number, bits: number): number {
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(Math.abs(id) || 1)) + 1 - bits);
  const quotient = id / unit;
  const floor = Math.floor(quotient);
  const isUp = quotient - floor > 0.5 || (quotient - floor === 0.5 && floor % 2 !== 0);
  return (isUp ? floor + 1 : floor) * unit;
}
