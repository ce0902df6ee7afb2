// SPDX-License-Identifier: MIT
// Conventions of attention itself, whatever the scheme: mask, scale, grouped heads, and whether there are positions at
// all.

import type { Case } from "../check-case.js";
import type { FileTensor } from "../run-types.js";
import { type Convention, ids, mapNumbers, numbersOf, withCall, withExpected, withTensors } from "./change.js";

export function callConventions(item: Case): Convention[] {
  const { op } = item.description;
  if (op === "bias" || op === "table")
    return [withExpected(item, "these values with the other sign", (tensor) => mapNumbers(tensor, (value) => -value))];
  if (op !== "attention" && op !== "attention-gradients") return [];
  return [
    ...maskConventions(item),
    ...scaleConventions(item),
    ...groupedHeads(item),
    withCall(item, "no positional encoding", { position: { type: "none" } }),
  ];
}

function maskConventions(item: Case): Convention[] {
  const { mask = {} } = item.description;
  const alignment = mask.alignment === "top-left" ? "bottom-right" : "top-left";
  const keyMask = item.tensors.get("input.keyMask");
  const causal = !mask.causal;
  return [
    withCall(item, `alignment: ${alignment}`, { mask: { ...mask, alignment } }),
    withCall(item, `causal: ${String(causal)}`, {
      mask: { ...(mask.alignment ? { alignment: mask.alignment } : {}), causal },
    }),
    ...(mask.window === undefined
      ? []
      : [
          ...[mask.window - 1, mask.window + 1]
            .filter((window) => window > 0)
            .map((window) => withCall(item, `window: ${window}`, { mask: { ...mask, window } })),
          withCall(item, "no window", {
            mask: { causal: true, ...(mask.alignment ? { alignment: mask.alignment } : {}) },
          }),
        ]),
    ...(keyMask
      ? [
          withTensors(item, "keyMask with 1 for hidden", {
            "input.keyMask": ids(numbersOf(keyMask).map((value) => (value === 0 ? 1 : 0))),
          }),
          withTensors(item, "keyMask not used", { "input.keyMask": null }),
        ]
      : []),
  ];
}

function scaleConventions(item: Case): Convention[] {
  const [heads = 1, , headDim = 1] = item.tensors.get("input.query")?.shape ?? [];
  const given = item.description.scale ?? headDim ** -0.5;
  const scales: [string, number][] = [
    ["scale: 1/sqrt(D)", headDim ** -0.5],
    ["scale: 1", 1],
    ["scale: 1/D (scaled twice)", 1 / headDim],
    ["scale: 1/sqrt(H D), the model's width", (heads * headDim) ** -0.5],
    ["scale: sqrt(D)", headDim ** 0.5],
  ];
  return scales.filter(([, scale]) => scale !== given).map(([label, scale]) => withCall(item, label, { scale }));
}

/** Query head h reads key head h mod Hkv instead of the group's. */
function groupedHeads(item: Case): Convention[] {
  const heads = item.tensors.get("input.query")?.shape[0] ?? 0;
  const changes = ["input.key", "input.value"].flatMap((name) => {
    const tensor = item.tensors.get(name);
    const groups = tensor?.shape[0] ?? heads;
    if (!tensor || groups === heads || groups < 2 || heads % groups || item.description.op !== "attention") return [];
    const numbers = numbersOf(tensor);
    const block = numbers.length / groups;
    const data = Float64Array.from({ length: heads * block }, (_, index) => {
      const head = Math.floor(index / block);
      return numbers[(head % groups) * block + (index % block)]!;
    });
    return [
      [name, { ...tensor, dtype: "F64" as const, shape: [heads, ...tensor.shape.slice(1)], data }] as [
        string,
        FileTensor,
      ],
    ];
  });
  return changes.length === 2
    ? [
        withTensors(
          item,
          "key heads dealt out in turn (head h reads h mod Hkv) instead of in groups",
          Object.fromEntries(changes),
        ),
      ]
    : [];
}
