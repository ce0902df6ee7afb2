// SPDX-License-Identifier: MIT
// Conventions of rotary embeddings: which lanes pair and turn, the exponent, theta, and everything about scalings.

import type { Case } from "../check-case.js";
import type { RopeScaling } from "../types.js";
import { type Convention, reorder, schemeOf, withExpected, withScheme, withTensors } from "./change.js";

export function ropeConventions(item: Case): Convention[] {
  const {
    theta = 10000,
    layout = "half",
    rotaryDim,
    scaling,
  } = schemeOf(item) as {
    theta?: number;
    layout?: string;
    rotaryDim?: number;
    scaling?: RopeScaling;
  };
  const otherLayout = layout === "half" ? "interleaved" : "half";
  const headDim = headDimOf(item);
  return [
    withScheme(item, `layout: ${otherLayout}`, { layout: otherLayout }),
    ...(theta === 10000 ? [] : [withScheme(item, "theta: 10000", { theta: 10000 })]),
    ...[500000, 1000000]
      .filter((other) => other !== theta)
      .map((other) => withScheme(item, `theta: ${other}`, { theta: other })),
    ...widthConventions(item, theta, rotaryDim ?? headDim, headDim),
    ...(scaling ? scalingConventions(item, scaling) : []),
    ...(item.description.op === "frequencies"
      ? [withExpected(item, "frequencies that are not inverted (theta^(2k/r))", inverted)]
      : []),
  ];
}

const inverted: Parameters<typeof withExpected>[2] = (tensor) =>
  tensor.shape.length === 1 && tensor.shape[0] === 1
    ? tensor
    : { ...tensor, data: Float64Array.from(tensor.data as ArrayLike<number>, (value) => 1 / value) };

function headDimOf({ description, tensors }: Case): number {
  const rows = tensors.get("input.x") ?? tensors.get("input.query");
  return description.headDim ?? rows?.shape.at(-1) ?? 0;
}

/** Which lanes turn, and what the exponent is divided by. */
function widthConventions(item: Case, theta: number, rotaryDim: number, headDim: number): Convention[] {
  const conventions: Convention[] = [];
  if (rotaryDim < headDim) {
    conventions.push(
      withScheme(item, "rotaryDim: the whole head", { rotaryDim: undefined }),
      // theta^(-2k/d) is (theta^(r/d))^(-2k/r).
      withScheme(item, "exponents over the head's width instead of rotaryDim", {
        theta: theta ** (rotaryDim / headDim),
      }),
      ...lastLanes(item, rotaryDim, headDim),
    );
  }
  for (const [part, name] of [
    [2, "half"],
    [4, "a quarter"],
  ] as const) {
    const width = headDim / part;
    if (width !== rotaryDim && width >= 2 && width % 2 === 0)
      conventions.push(withScheme(item, `rotaryDim: ${name} of the head (${width})`, { rotaryDim: width }));
  }
  return conventions;
}

/** The same with the lanes turned round, so that the last ones come first. */
function lastLanes(item: Case, rotaryDim: number, headDim: number): Convention[] {
  const order = Array.from({ length: headDim }, (_, lane) => (lane + headDim - rotaryDim) % headDim);
  const names = item.description.op === "rotate" ? ["input.x", "expected.x"] : ["input.query", "input.key"];
  const changed = names.flatMap((name) => {
    const tensor = item.tensors.get(name);
    return tensor ? [[name, reorder(tensor, order, "last")] as const] : [];
  });
  if (item.description.op === "attention-gradients" || changed.length < 2) return [];
  return [withTensors(item, "the last rotaryDim lanes turned instead of the first", Object.fromEntries(changed))];
}

function scalingConventions(item: Case, scaling: RopeScaling): Convention[] {
  const scaled = (label: string, change: Partial<Record<keyof RopeScaling, unknown>>): Convention =>
    withScheme(item, label, { scaling: { ...scaling, ...change } });
  const { ropeType, factor, originalMaxPositionEmbeddings: original } = scaling;
  const conventions = [withScheme(item, "no scaling", { scaling: undefined })];
  const hasMagnitude = ropeType === "yarn" || ropeType === "longrope";
  if (hasMagnitude && scaling.attentionFactor !== 1)
    conventions.push(scaled("attentionFactor: 1", { attentionFactor: 1, mscale: undefined, mscaleAllDim: undefined }));
  if (ropeType === "yarn") {
    const truncate = scaling.truncate ?? true;
    conventions.push(scaled(`truncate: ${String(!truncate)}`, { truncate: !truncate }));
    if (factor !== undefined) {
      const magnitude = scaling.attentionFactor ?? 0.1 * Math.log(Math.max(factor, 1)) + 1;
      conventions.push(
        scaled("attentionFactor: yarn's magnitude twice", { attentionFactor: magnitude ** 2 }),
        scaled("attentionFactor: yarn's magnitude 0.1 ln(factor) + 1, whatever mscale says", {
          mscale: undefined,
          mscaleAllDim: undefined,
          attentionFactor: undefined,
        }),
      );
    }
  }
  if (original !== undefined && factor !== undefined)
    conventions.push(
      scaled("originalMaxPositionEmbeddings: the extended length", {
        originalMaxPositionEmbeddings: original * factor,
      }),
    );
  if (ropeType === "longrope")
    conventions.push(
      scaled("shortFactor and longFactor exchanged", {
        shortFactor: scaling.longFactor,
        longFactor: scaling.shortFactor,
      }),
      scaled("shortFactor at every length", { longFactor: scaling.shortFactor }),
    );
  if (factor !== undefined && factor !== 1)
    conventions.push(
      scaled("the factor applied twice", { factor: factor ** 2 }),
      scaled("the factor turned over (1 / factor)", { factor: 1 / factor }),
      ...(["linear", "ntk", "dynamic", "yarn"] as const)
        .filter((type) => type !== ropeType)
        .map((type) => scaled(`ropeType: ${type}`, { ropeType: type })),
    );
  return conventions;
}
