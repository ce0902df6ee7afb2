// SPDX-License-Identifier: MIT
// A config's scheme objects: one function a scheme, from keys to the object that every function of the library takes.

import { wrongArgument } from "../errors.js";
import type { Position } from "../types.js";
import type { Family, LayerKind, SchemeName } from "./family.js";
import type { ConfigReader, Found } from "./reader.js";
import { resolveRope } from "./rope.js";
import { headsOf, maxPositionsOf } from "./sizes.js";
import type { PositionIds } from "./types.js";

/** A scheme object with where its fields come from. */
export interface Built {
  position: Position;
  sources: Record<string, string>;
  rotaryDim?: number;
  /** the width that the frequencies are about */ rotatedHead?: number;
  positionIds?: PositionIds;
}

/** What the builders get. */
export interface Surroundings {
  reader: ConfigReader;
  family: Family;
  kind: LayerKind;
  /** name of the kind of layer */ layerType: string;
  headDim: Found<number> | undefined;
}

export const builders: Record<SchemeName, (surroundings: Surroundings) => Built> = {
  none: ({ family }) => ({ position: { type: "none" }, sources: { position: `family ${family.names[0]}` } }),
  rope: ({ reader, family, kind, layerType, headDim }) => {
    const {
      position,
      rotaryDim,
      headDim: rotatedHead,
      sources,
    } = resolveRope(reader, family, headDim, layerType, kind.rope);
    return { position, rotaryDim, rotatedHead, sources };
  },
  alibi: buildAlibi,
  learned: buildLearned,
  grid: buildGrid,
  sinusoidal: ({ reader, family }) => {
    const ids = withPaddingId(reader, family.ids);
    return {
      position: { type: "sinusoidal", ...family.options } as Position,
      sources: { layout: `family ${family.names[0]}` },
      ...(ids ? { positionIds: ids.ids } : {}),
    };
  },
  t5: ({ reader, family }) => {
    const buckets = reader.number(["relative_attention_num_buckets"], { minimum: 2, whole: true });
    const maxDistance = reader.number(["relative_attention_max_distance"], { minimum: 1, whole: true });
    return {
      position: {
        type: "t5",
        buckets: buckets?.value ?? 32,
        maxDistance: maxDistance?.value ?? 128,
        ...family.options,
      },
      sources: {
        buckets: buckets?.source ?? "default of T5",
        maxDistance: maxDistance?.source ?? "default of T5",
        bidirectional: family.causal === false ? "encoder" : "decoder",
      },
    };
  },
  shaw: ({ reader, family }) => {
    const longest = reader.needed(maxPositionsOf(reader, family), ["max_position_embeddings"], "the table's length");
    return {
      position: { type: "shaw", maxDistance: longest.value - 1 },
      sources: { maxDistance: `${longest.source} - 1` },
    };
  },
  "transformer-xl": ({ reader, family }) => {
    const clamp = reader.number(["clamp_len"], { whole: true, minimum: -1 });
    const isClamped = clamp !== undefined && clamp.value > 0;
    return {
      position: { type: "transformer-xl", ...(isClamped ? { clampLength: clamp.value } : {}) },
      sources: { position: `family ${family.names[0]}`, ...(clamp ? { clampLength: clamp.source } : {}) },
    };
  },
  deberta: buildDeberta,
};

/** Refuses to make lists of slopes that no model has. */
const kMostHeads = 2 ** 16;

function buildAlibi({ reader, family, headDim }: Surroundings): Built {
  const heads = reader.needed(headsOf(reader), ["num_attention_heads", "n_head"], "the number of heads");
  if (heads.value > kMostHeads) throw wrongArgument("range", heads.source, heads.value, `at most ${kMostHeads} heads`);
  const steepest = reader.number(["attn_config.alibi_bias_max"], { above: 0 });
  const factor = family.options?.slopesTimesScale && headDim ? headDim.value ** -0.5 : 1;
  if (factor === 1 && (steepest?.value ?? 8) === 8)
    return { position: { type: "alibi", slopes: "standard" }, sources: { slopes: `family ${family.names[0]}` } };
  if (factor !== 1)
    reader.caution(
      "slopes-times-scale",
      `this family scales q k and the bias together by 1 / sqrt(head width): the slopes are the usual ones times ${factor.toPrecision(6)}`,
    );
  return {
    position: { type: "alibi", slopes: alibiSlopes(heads.value, steepest?.value ?? 8).map((slope) => slope * factor) },
    sources: { slopes: steepest?.source ?? `family ${family.names[0]}, ${heads.source}, ${headDim?.source}` },
  };
}

/** 2^(-steepest h / P), P the power of two at or above the heads; the odd ones last where P is above (Press et al.). */
function alibiSlopes(heads: number, steepest: number): number[] {
  const power = 2 ** Math.ceil(Math.log2(heads));
  const slopes = Array.from({ length: power }, (_, head) => 2 ** ((-steepest * (head + 1)) / power));
  if (power === heads) return slopes;
  const everySecond = (first: number): number[] => slopes.filter((_, head) => head % 2 === first);
  return [...everySecond(1), ...everySecond(0)].slice(0, heads);
}

function buildLearned({ reader, family }: Surroundings): Built {
  const longest = reader.needed(
    maxPositionsOf(reader, family),
    ["max_position_embeddings", "n_positions"],
    "the length of the table",
  );
  const beyond = family.rowsBeyond ?? 0;
  const padded = withPaddingId(reader, beyond === 0 ? family.ids : undefined);
  const ids = padded?.ids ?? family.ids ?? { policy: "plain", offset: 0 };
  const rows = longest.value + beyond;
  if (rows <= ids.offset)
    throw wrongArgument(
      "range",
      longest.source,
      longest.value,
      `more than the ${ids.offset} rows before the first position`,
    );
  return {
    position: { type: "learned", rows, ...(ids.offset > 0 ? { offset: ids.offset } : {}) },
    sources: {
      rows: beyond > 0 ? `${longest.source} + ${beyond}` : longest.source,
      ...(ids.offset > 0 ? { offset: padded?.source ?? `family ${family.names[0]}` } : {}),
    },
    positionIds: ids,
  };
}

/** Rows from the padding id on, where the family counts that way. */
function withPaddingId(
  reader: ConfigReader,
  ids: PositionIds | undefined,
): { ids: PositionIds; source: string } | undefined {
  if (ids?.paddingRow === undefined) return undefined;
  const padding = reader.number(["pad_token_id"], { minimum: 0, whole: true });
  const paddingRow = padding?.value ?? ids.paddingRow;
  return {
    ids: { policy: ids.policy, offset: paddingRow + 1, paddingRow },
    source: padding ? `${padding.source} + 1` : "the usual padding id + 1",
  };
}

/** A learned row a patch, and rows for what is no patch. */
function buildGrid({ reader, family }: Surroundings): Built {
  const patches = ["image_size", "patch_size"].map((key) => {
    const raw = reader.raw(key);
    const found = Array.isArray(raw) ? reader.numbers([key], { minimum: 1, whole: true }) : undefined;
    if (found && found.value.length !== 2)
      throw wrongArgument("shape", found.source, found.value, "a number, or height and width,");
    const one = found ? undefined : reader.needed(reader.number([key], { minimum: 1, whole: true }), [key], "a size");
    return { extents: found?.value ?? [one!.value, one!.value], source: (found ?? one)!.source };
  });
  const [image, patch] = patches as [(typeof patches)[0], (typeof patches)[0]];
  const [high = 0, wide = 0] = image.extents.map((extent, axis) => Math.floor(extent / patch.extents[axis]!));
  const extra = Number(family.options?.extraRows ?? 0);
  if (high * wide === 0) throw wrongArgument("range", patch.source, patch.extents[0], `at most ${image.source}`);
  reader.caution(
    "grid",
    `${high} by ${wide} patches in raster order${extra > 0 ? `, after ${extra} rows that are no patches and must not be resized` : ""}; other image sizes need the grid resized to the target size, bicubic`,
  );
  return {
    position: { type: "learned", rows: high * wide + extra },
    sources: { rows: `(${image.source} / ${patch.source})^2 + ${extra}` },
  };
}

function buildDeberta({ reader, family }: Surroundings): Built {
  const span = reader.number(["max_relative_positions"], { whole: true, minimum: -1 });
  const longest = reader.needed(maxPositionsOf(reader, family), ["max_position_embeddings"], "the longest text");
  const buckets = reader.number(["position_buckets"], { whole: true, minimum: -1 });
  const maxDistance = span && span.value > 0 ? span : longest;
  const hasBuckets = buckets !== undefined && buckets.value > 0;
  reader.caution(
    "deberta",
    `disentangled attention: ${hasBuckets ? `${buckets.value} logarithmic buckets a side, ` : ""}distances to ${maxDistance.value}; queries meet relative keys (c2p) and keys relative queries (p2c)`,
  );
  return {
    // The type is refused with the nearest name by builds that do not have it.
    position: {
      type: "deberta",
      maxDistance: maxDistance.value,
      ...(hasBuckets ? { buckets: buckets.value } : {}),
    } as unknown as Position,
    sources: { maxDistance: maxDistance.source, ...(buckets ? { buckets: buckets.source } : {}) },
  };
}
