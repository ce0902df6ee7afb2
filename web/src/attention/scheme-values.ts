// SPDX-License-Identifier: MIT
// Schemes as the attention call takes them: without their label, with the values of what they learn.

import { readSafetensors, type Encoding, type PosLab, type Position, type Tensor } from "../engine/poslab.js";
import { gateReaderNames, logGates } from "../schemes/gates.js";

/** By the name that the scheme object has for them: "table", "keys", "projection". */
export type SchemeTensors = Record<string, Tensor>;

/** Whether the scheme acts on the tokens' vectors, before there are queries and keys. */
export function embeds(lab: PosLab, type: string): boolean {
  return lab.info.schemes.find((scheme) => scheme.type === type)?.hooks.includes("embedding") ?? false;
}

export function schemeOf({ label: _, ...scheme }: Encoding, tensors: SchemeTensors): Position {
  const taken = Object.entries(tensors).filter(([name]) => !(gateReaderNames as readonly string[]).includes(name));
  return { ...scheme, ...Object.fromEntries(taken) } as Position;
}

/** Gates of tokens whose rows [length, dim] attention gets; nothing for a scheme without gates. */
export function gatesOf(tensors: SchemeTensors, rows: Float32Array): { gates?: Tensor } {
  const { gateWeight, gateBias } = tensors;
  if (!gateWeight || !gateBias) return {};
  const dim = gateWeight.shape[1]!;
  return { gates: logGates({ gateWeight, gateBias }, rows, rows.length / dim, (_, token) => token * dim) };
}

/** What a model's scheme has learned, for one layer: shared tensors and the layer's own. */
export function positionTensors(weights: Uint8Array, layer: number): SchemeTensors {
  const found: SchemeTensors = {};
  for (const [name, { data, shape }] of readSafetensors(weights).tensors) {
    const own = [`blocks.${layer}.position.`, "position."].find((prefix) => name.startsWith(prefix));
    if (own && (data instanceof Float32Array || data instanceof Float64Array))
      found[name.slice(own.length)] = { data: Float32Array.from(data), shape };
  }
  return found;
}
