// SPDX-License-Identifier: MIT
// When a case fails: what do its expected values match? Implementations differ by a handful of conventions (lane
// layout, denominator, buckets to one side, slopes, alignment, scale), and saying which one saves an afternoon.

import type { Case, CaseDescription } from "./check-case.js";

/** A convention that differs from the case's, in the words of the message. */
export interface Variant {
  label: string;
  item: Case;
}

type Scheme = Record<string, unknown> & { type: string };

/** Every variant of a case with one convention changed. */
export function variantsOf(item: Case): Variant[] {
  const position = item.description.position as unknown as Scheme;
  const inPosition = (label: string, change: Record<string, unknown>): Variant =>
    variant(item, label, { position: { ...position, ...change } as unknown as CaseDescription["position"] & object });
  const variants: Variant[] = [...schemeVariants(position, inPosition), ...callVariants(item)];
  if (item.description.op === "bias" || item.description.op === "table")
    variants.push({ label: "these values with the other sign", item: negated(item) });
  return variants;
}

function variant(item: Case, label: string, change: Partial<CaseDescription>): Variant {
  return { label, item: { ...item, description: { ...item.description, ...change } } };
}

function schemeVariants(
  position: Scheme,
  changed: (label: string, change: Record<string, unknown>) => Variant,
): Variant[] {
  const other = (name: string, first: string, second: string, byDefault: string): Variant => {
    const value = (position[name] ?? byDefault) === first ? second : first;
    return changed(`${name}: ${value}`, { [name]: value });
  };
  switch (position.type) {
    case "rope":
      return [
        other("layout", "half", "interleaved", "half"),
        ...(position.scaling
          ? [changed("no scaling", { scaling: undefined }), ...attentionFactorOne(position, changed)]
          : []),
        ...(position.rotaryDim === undefined ? [] : [changed("rotaryDim: the whole head", { rotaryDim: undefined })]),
        ...(position.theta === undefined || position.theta === 10000
          ? []
          : [changed("theta: 10000", { theta: 10000 })]),
      ];
    case "xpos":
      return [other("layout", "half", "interleaved", "interleaved")];
    case "sinusoidal":
      return [
        other("layout", "interleaved", "concatenated", "interleaved"),
        other("denominator", "dim", "half-dim-minus-one", "dim"),
        changed("layout and denominator of tensor2tensor (concatenated, half-dim-minus-one)", {
          layout: "concatenated",
          denominator: "half-dim-minus-one",
        }),
      ];
    case "learned":
      return [0, 1, 2]
        .filter((offset) => offset !== (position.offset ?? 0))
        .map((offset) => changed(`offset: ${offset}`, { offset }));
    case "t5":
      return [
        changed(`bidirectional: ${String(!position.bidirectional)}`, { bidirectional: !position.bidirectional }),
        ...(position.maxDistance === undefined || position.maxDistance === 128
          ? []
          : [changed("maxDistance: 128", { maxDistance: 128 })]),
      ];
    case "kerple":
      return [other("kind", "log", "power", "log")];
    case "transformer-xl":
      return position.clampLength === undefined ? [] : [changed("no clampLength", { clampLength: undefined })];
    default:
      return [];
  }
}

function attentionFactorOne(
  position: Scheme,
  changed: (label: string, change: Record<string, unknown>) => Variant,
): Variant[] {
  const scaling = position.scaling as Record<string, unknown>;
  return scaling.attentionFactor === 1
    ? []
    : [
        changed("attentionFactor: 1", {
          scaling: { ...scaling, attentionFactor: 1, mscale: undefined, mscaleAllDim: undefined },
        }),
      ];
}

function callVariants(item: Case): Variant[] {
  const { description } = item;
  const { op, position, mask = {} } = description;
  const variants: Variant[] = [];
  const heads =
    op === "attention" || op === "attention-gradients"
      ? (item.tensors.get("input.query")?.shape[0] ?? 0)
      : (description.heads ?? 0);
  if (position?.type === "alibi" && heads > 0) {
    const slopes = (label: string, slope: (head: number) => number): Variant =>
      variant(item, label, {
        position: { type: "alibi", slopes: Array.from({ length: heads }, (_, head) => slope(head)) },
      });
    variants.push(
      slopes("slopes: 2^(-8h/H), also where H is no power of two", (head) => 2 ** ((-8 * (head + 1)) / heads)),
      slopes("slopes: 2^(-8h/H) counted from head 0", (head) => 2 ** ((-8 * head) / heads)),
      slopes("slopes: 2^(-h)", (head) => 2 ** -(head + 1)),
    );
  }
  if (op === "table")
    variants.push(
      ...[-1, 1].map((shift) =>
        variant(item, `start: ${(description.start ?? 0) + shift}`, { start: (description.start ?? 0) + shift }),
      ),
    );
  if (op === "attention" || op === "attention-gradients") {
    const other = mask.alignment === "top-left" ? "bottom-right" : "top-left";
    variants.push(
      variant(item, `alignment: ${other}`, { mask: { ...mask, alignment: other } }),
      variant(item, `causal: ${String(!mask.causal)}`, {
        mask: { ...(mask.alignment ? { alignment: mask.alignment } : {}), causal: !mask.causal },
      }),
      ...(mask.window === undefined
        ? []
        : [mask.window - 1, mask.window + 1]
            .filter((window) => window > 0)
            .map((window) => variant(item, `window: ${window}`, { mask: { ...mask, window } }))),
      description.scale === 1
        ? variant(item, "scale: 1/sqrt(D)", { scale: undefined } as Partial<CaseDescription>)
        : variant(item, "scale: 1", { scale: 1 }),
      variant(item, "no positional encoding", { position: { type: "none" } }),
    );
  }
  return variants;
}

/** The same case with its expected values negated: an implementation that subtracts what should be added. */
function negated(item: Case): Case {
  const tensors = new Map(item.tensors);
  for (const [name, tensor] of tensors) {
    if (!name.startsWith("expected.") || tensor.data instanceof BigInt64Array) continue;
    tensors.set(name, { ...tensor, data: Float64Array.from(tensor.data as ArrayLike<number>, (value) => -value) });
  }
  return { ...item, tensors };
}
