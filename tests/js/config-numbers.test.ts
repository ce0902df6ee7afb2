// SPDX-License-Identifier: MIT
// Numbers of a config, key by key: what JSON writes as 4, 4.0 or 8192.0 is taken, and a text, a truth value, NaN, infinity
// or a negative number is refused by the name of its key, never read as something else.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { PosLabError } from "../../bindings/js/index.js";
import { sharedLab } from "./lab.js";

const lab = await sharedLab();

/** A llama with every scaling, and where its numbers are. */
const base = {
  model_type: "llama",
  hidden_size: 512,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  num_hidden_layers: 2,
  head_dim: 64,
  max_position_embeddings: 8192,
  rope_theta: 10000,
};
const scalings: Record<string, Record<string, unknown>> = {
  linear: { factor: 4 },
  dynamic: { factor: 4 },
  yarn: {
    factor: 4,
    original_max_position_embeddings: 2048,
    beta_fast: 32,
    beta_slow: 1,
    mscale: 1,
    mscale_all_dim: 1,
  },
  llama3: { factor: 8, original_max_position_embeddings: 2048, low_freq_factor: 1, high_freq_factor: 4 },
  longrope: {
    factor: 4,
    original_max_position_embeddings: 2048,
    short_factor: Array.from({ length: 32 }, () => 1),
    long_factor: Array.from({ length: 32 }, () => 4),
  },
};

type Place = { type: string; key: string };
const places: Place[] = [
  ...["hidden_size", "num_attention_heads", "head_dim", "max_position_embeddings", "rope_theta"].map((key) => ({
    type: "dynamic",
    key,
  })),
  ...Object.entries(scalings).flatMap(([type, fields]) =>
    Object.keys(fields).map((key) => ({ type, key: `rope_scaling.${key}` })),
  ),
];

/** The config with one value replaced; of a list, one entry. */
function changed({ type, key }: Place, value: unknown): object {
  const scaling: Record<string, unknown> = { rope_type: type, ...scalings[type] };
  const inner = key.startsWith("rope_scaling.") ? key.slice("rope_scaling.".length) : undefined;
  // With a width of the head nobody has to divide the model's.
  const { head_dim, ...rest } = base;
  const common = key === "hidden_size" ? rest : { ...rest, head_dim };
  if (inner === undefined) return { ...common, rope_scaling: scaling, [key]: value };
  const before = scaling[inner];
  scaling[inner] = Array.isArray(before) ? before.map((entry, n) => (n === 3 ? value : (entry as number))) : value;
  return { ...base, rope_scaling: scaling };
}

const explain = (config: unknown): ReturnType<typeof explainConfig> => explainConfig(config, { lab, length: 4096 });

describe.each(places)("$key under $type", (place) => {
  it("refuses what is no number of its kind, by name", () => {
    const wrong = fc.oneof(
      fc.constantFrom<unknown>("4", "10000", "", "NaN", true, false, NaN, Infinity, -Infinity, [], {}, [4]),
      fc.double({ max: -1e-9, noNaN: true, noDefaultInfinity: true }),
      fc.integer({ max: -1 }),
    );
    fc.assert(
      fc.property(wrong, (value) => {
        let error: unknown;
        try {
          explain(changed(place, value));
        } catch (caught) {
          error = caught;
        }
        expect(error, `${place.key} = ${String(value)} was accepted`).toBeInstanceOf(PosLabError);
        const { message, argument } = error as PosLabError;
        expect(`${argument} ${message}`).toContain(place.key.split(".").at(-1));
      }),
      { numRuns: 60 },
    );
  });

  it("takes whole numbers as JSON writes them, with a point or without", () => {
    const written = JSON.stringify(changed(place, 123456));
    for (const value of ["4", "64", "8192"]) {
      const outcome = (text: string): unknown => {
        try {
          return explain(written.replace("123456", text)).layers;
        } catch (error) {
          expect(error).toBeInstanceOf(PosLabError);
          return (error as PosLabError).message.replaceAll(`${value}.0`, value);
        }
      };
      expect(outcome(`${value}.0`)).toEqual(outcome(value));
      expect(outcome(`${value}.00e0`)).toEqual(outcome(value));
    }
  });
});
