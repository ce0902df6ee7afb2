// SPDX-License-Identifier: MIT
// "The same weights with other positions": from what a person asks for (another theta, a scaling, a window, another
// scheme) to the scheme that the core is to run, beginning with the one that the model has.

import { PosLabError, wrongArgument } from "../errors.js";
import { checkOptions } from "../tensors.js";
import type { Position, Rope, RopeScaling } from "../types.js";
import type { Architecture, PositionChange, Stack } from "./model-description.js";

/** Each field changes one thing; what is not given stays as trained. */
export interface PositionOverride {
  /** base of the rotation */ theta?: number;
  /** any scaling of the rotation; null: none. The original length is that of the model unless it is given */
  scaling?: RopeScaling | null;
  /** which lanes are paired */ layout?: "half" | "interleaved";
  /** one number a head, for models with ALiBi */ slopes?: "standard" | readonly number[];
  /** another scheme altogether; { type: "none" }: no positions. Not together with the fields above */
  position?: Position;
  /** a query sees itself and window - 1 keys before it; 0: no window */ window?: number;
  /** added to every position id */ shift?: number;
}

const fields = ["theta", "scaling", "layout", "slopes", "position", "window", "shift"] as const;

/** @throws PosLabError for what the model's own scheme has not. */
export function changeOf(architecture: Architecture, override: PositionOverride): PositionChange {
  checkOptions(override, fields, "override");
  const { theta, scaling, layout, slopes, position, window, shift } = override;
  const ofScheme = Object.entries({ theta, scaling, layout, slopes }).filter(([, value]) => value !== undefined);
  if (position && ofScheme.length > 0)
    throw wrongArgument(
      "contradiction",
      `override.${ofScheme[0]![0]}`,
      ofScheme[0]![1],
      "either it or position, not both,",
    );
  const change: PositionChange = {
    ...(window === undefined ? {} : { window }),
    ...(shift === undefined ? {} : { shift }),
  };
  if (position) return { ...change, position: withOriginalLength(position, architecture) };
  if (ofScheme.length === 0) return change;
  const own = schemeOf(architecture, ofScheme[0]![0]);
  if (slopes !== undefined) {
    if (own.type !== "alibi" || ofScheme.length > 1) throw wrongScheme("slopes", "alibi", own.type);
    return { ...change, position: { type: "alibi", slopes } };
  }
  if (own.type !== "rope") throw wrongScheme(ofScheme[0]![0], "rope", own.type);
  const { scaling: ownScaling, ...plain } = own;
  const kept = scaling === undefined ? ownScaling : scaling;
  const changed: Rope = {
    ...plain,
    ...(theta === undefined ? {} : { theta }),
    ...(layout === undefined ? {} : { layout }),
    ...(kept ? { scaling: kept } : {}),
  };
  return { ...change, position: withOriginalLength(changed, architecture) };
}

/** The scheme that all layers share; a rotation may leave out every n-th of them (SmolLM 3). */
function schemeOf({ decoder, encoder }: Architecture, field: string): Position {
  const { position } = (decoder ?? encoder) as Stack;
  if ("type" in position) return position;
  const [first, second, ...more] = [...new Map(position.map((one) => [JSON.stringify(one), one])).values()];
  if (first && !second) return first;
  const interval = position.findIndex(({ type }) => type === "none") + 1;
  const isRegular = position.every(({ type }, layer) => (type === "none") === ((layer + 1) % interval === 0));
  if (first?.type === "rope" && second?.type === "none" && more.length === 0 && isRegular)
    return { ...first, noRopeLayerInterval: interval };
  throw new PosLabError(
    "notDefined",
    `override.${field}: the layers of this model have different schemes; give position, which is for all`,
    { argument: `override.${field}` },
  );
}

function wrongScheme(field: string, needed: string, type: string): PosLabError {
  return new PosLabError(
    "notDefined",
    `override.${field}: the model's positions are "${type}", and only "${needed}" has ${field}; another scheme can be given as position`,
    {
      argument: `override.${field}`,
    },
  );
}

/** A scaling stretches the length that the model was trained at. */
function withOriginalLength(position: Position, { trainedLength }: Architecture): Position {
  if (position.type !== "rope" || !position.scaling || trainedLength === 0) return position;
  const { scaling } = position;
  return {
    ...position,
    maxPositionEmbeddings: position.maxPositionEmbeddings ?? trainedLength,
    scaling: { ...scaling, originalMaxPositionEmbeddings: scaling.originalMaxPositionEmbeddings ?? trainedLength },
  };
}

const scalings = ["linear", "ntk", "dynamic", "yarn", "llama3"] as const;
const llama3Bands = { lowFreqFactor: 1, highFreqFactor: 4 };

/**
 * An override as text: "yarn:4" (a scaling and its factor), "theta:500000", "window:256", "shift:100",
 * "layout:interleaved", "none" or another scheme's name, a scheme object as JSON; several with "+" between them.
 */
export function parseOverride(text: string): PositionOverride {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return fromJson(trimmed);
  const override: PositionOverride = {};
  for (const part of trimmed.split("+")) {
    const given = parsePart(part);
    const [field] = Object.keys(given);
    if (Object.hasOwn(override, field!))
      throw wrongArgument("contradiction", "override", text, `${field} once, not several times,`);
    Object.assign(override, given);
  }
  return override;
}

function fromJson(text: string): PositionOverride {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PosLabError("format", `override: ${text} is not JSON: ${(cause as Error).message}`, {
      argument: "override",
    });
  }
  // A scheme object has a type; anything else is an override object.
  return "type" in (value as object) ? { position: value as Position } : (value as PositionOverride);
}

function parsePart(text: string): PositionOverride {
  const [name, value, ...rest] = text.trim().split(":") as [string, string?, ...string[]];
  const number = (): number => {
    const parsed = value?.trim() ? Number(value) : NaN;
    if (rest.length > 0 || !Number.isFinite(parsed)) throw wrongArgument("range", "override", text, `${name}:NUMBER`);
    return parsed;
  };
  const scaling = scalings.find((known) => known === name);
  if (scaling)
    return { scaling: { ropeType: scaling, factor: number(), ...(scaling === "llama3" ? llama3Bands : {}) } };
  if (name === "theta" || name === "window" || name === "shift") return { [name]: number() };
  if (name === "layout" && (value === "half" || value === "interleaved")) return { layout: value };
  if (value === undefined && /^[a-z0-9-]+$/.test(name)) return { position: { type: name } as Position };
  throw wrongArgument(
    "unknownName",
    "override",
    text,
    `KIND:FACTOR (${scalings.join(", ")}), theta:N, window:N, shift:N, layout:half or layout:interleaved, a scheme's name or a JSON object`,
  );
}
