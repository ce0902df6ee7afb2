// SPDX-License-Identifier: MIT
// Conventions of each scheme, by its type: what implementations of the same paper do differently.

import type { Case } from "../check-case.js";
import type { FileTensor } from "../run-types.js";
import { type Convention, mapNumbers, reorder, schemeOf, withExpected, withScheme, withTensors } from "./change.js";
import type { PosLab } from "../poslab.js";
import { alibiConventions } from "./alibi.js";
import { ropeConventions } from "./rope.js";
import { named } from "../named.js";

/** Changes of the scheme of a case; none for a scheme that has no known ones. */
export function schemeConventions(item: Case, lab: PosLab): Convention[] {
  const { type } = schemeOf(item);
  return named(byType, type)?.(item, lab) ?? [];
}

const byType: Record<string, (item: Case, lab: PosLab) => Convention[]> = {
  rope: ropeConventions,
  xpos: (item) => [
    other(item, "layout", "half", "interleaved", "interleaved"),
    withScheme(item, "no decay (plain rotation)", {
      type: "rope",
      layout: schemeOf(item).layout ?? "interleaved",
      scaleBase: undefined,
    }),
    ...differing(item, "scaleBase", 512, 512),
  ],
  sinusoidal: (item) => [
    other(item, "layout", "interleaved", "concatenated", "interleaved"),
    other(item, "denominator", "dim", "half-dim-minus-one", "dim"),
    withScheme(item, "layout and denominator of tensor2tensor (concatenated, half-dim-minus-one)", {
      layout: "concatenated",
      denominator: "half-dim-minus-one",
    }),
    ...cosineFirst(item),
    ...differing(item, "base", 10000, 10000),
  ],
  learned: (item) =>
    [0, 1, 2]
      .filter((offset) => offset !== (schemeOf(item).offset ?? 0))
      .map((offset) => withScheme(item, `offset: ${offset}`, { offset })),
  t5: (item) => {
    const { bidirectional = false, buckets = 32 } = schemeOf(item) as { bidirectional?: boolean; buckets?: number };
    return [
      withScheme(item, `bidirectional: ${String(!bidirectional)}`, { bidirectional: !bidirectional }),
      ...differing(item, "maxDistance", 128, 128),
      ...(item.description.op === "buckets"
        ? [buckets * 2, buckets / 2].map((count) => withScheme(item, `buckets: ${count}`, { buckets: count }))
        : []),
      ...tensorChange(item, "the bias scaled together with q k (times 1/sqrt(D))", "table", (table) =>
        scaled(item, table, -0.5),
      ),
      ...tensorChange(item, "the bias times sqrt(D)", "table", (table) => scaled(item, table, 0.5)),
    ];
  },
  alibi: alibiConventions,
  kerple: (item) => [other(item, "kind", "log", "power", "log"), ...exchanged(item, "r1", "r2")],
  shaw: (item) => [
    ...reversedRows(item, ["keys", "values"], "tables that run by i - j"),
    ...reversedRows(item, ["keys"], "a key table that runs by i - j"),
    ...tensorChange(item, "key term without 1/sqrt(D)", "keys", (keys) => scaled(item, keys, 0.5)),
    ...(item.tensors.has("position.values") ? [withTensors(item, "no value term", { "position.values": null })] : []),
  ],
  "transformer-xl": (item) => [
    ...(schemeOf(item).clampLength === undefined
      ? []
      : [withScheme(item, "no clampLength", { clampLength: undefined })]),
    ...exchanged(item, "contentBias", "positionBias", "u and v exchanged"),
    ...projectionColumns(item),
    ...tensorChange(item, "no u and v", "contentBias", (bias) => mapNumbers(bias, () => 0), "positionBias"),
  ],
};

/** The second of two values, whichever the case has. */
function other(item: Case, name: string, first: string, second: string, byDefault: string): Convention {
  const value = (schemeOf(item)[name] ?? byDefault) === first ? second : first;
  return withScheme(item, `${name}: ${value}`, { [name]: value });
}

/** A usual value, where the case has another. */
function differing(item: Case, name: string, usual: number, byDefault: number): Convention[] {
  return (schemeOf(item)[name] ?? byDefault) === usual
    ? []
    : [withScheme(item, `${name}: ${usual}`, { [name]: usual })];
}

function tensorChange(
  item: Case,
  label: string,
  name: string,
  change: (tensor: FileTensor) => FileTensor,
  second?: string,
): Convention[] {
  const names = second === undefined ? [name] : [name, second];
  const tensors = names.map((one) => item.tensors.get(`position.${one}`));
  if (tensors.some((tensor) => tensor === undefined)) return [];
  return [
    withTensors(
      item,
      label,
      Object.fromEntries(names.map((one, index) => [`position.${one}`, change(tensors[index]!)])),
    ),
  ];
}

/** Times a power of the head's width; calls without one are left as they are. */
function scaled(item: Case, tensor: FileTensor, power: number): FileTensor {
  const headDim = item.tensors.get("input.query")?.shape.at(-1) ?? 1;
  return mapNumbers(tensor, (value) => value * headDim ** power);
}

function exchanged(
  item: Case,
  first: string,
  second: string,
  label = `${first} and ${second} exchanged`,
): Convention[] {
  const one = item.tensors.get(`position.${first}`);
  const two = item.tensors.get(`position.${second}`);
  return one && two ? [withTensors(item, label, { [`position.${first}`]: two, [`position.${second}`]: one })] : [];
}

/** Rows -k .. k in the other order, of one table or of one a head. */
function reversedRows(item: Case, names: readonly string[], label: string): Convention[] {
  const changes = names.flatMap((name) => {
    const table = item.tensors.get(`position.${name}`);
    if (!table) return [];
    const rows = table.shape.at(-2) ?? 0;
    const heads = table.shape.length === 3 ? table.shape[0]! : 1;
    const order = Array.from({ length: heads * rows }, (_, row) => row - (row % rows) + (rows - 1 - (row % rows)));
    return [[`position.${name}`, reorder(table, order, "first")] as const];
  });
  return changes.length === names.length ? [withTensors(item, label, Object.fromEntries(changes))] : [];
}

/** W_r made for sinusoids with other columns. */
function projectionColumns(item: Case): Convention[] {
  const width = item.tensors.get("position.projection")?.shape.at(-1) ?? 0;
  const half = Math.floor(width / 2);
  const columns = (order: (column: number) => number): number[] =>
    Array.from({ length: width }, (_, column) => order(column));
  return [
    ...tensorChange(item, "relative sinusoids with cosine first", "projection", (projection) =>
      reorder(
        projection,
        columns((column) => (column + half) % width),
        "last",
      ),
    ),
    ...tensorChange(item, "relative sinusoids interleaved", "projection", (projection) =>
      reorder(
        projection,
        columns((column) => (column < half ? 2 * column : 2 * (column - half) + 1)),
        "last",
      ),
    ),
  ];
}

/** Sine and cosine columns exchanged, in either layout. */
function cosineFirst(item: Case): Convention[] {
  const width = item.tensors.get("expected.table")?.shape[1] ?? 0;
  if (width === 0 || width % 2) return [];
  const isConcatenated = schemeOf(item).layout === "concatenated";
  const order = Array.from({ length: width }, (_, column) =>
    isConcatenated ? (column + width / 2) % width : column ^ 1,
  );
  return [withExpected(item, "cosine before sine", (table) => reorder(table, order, "last"))];
}
