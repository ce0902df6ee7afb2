// SPDX-License-Identifier: MIT
// Real configs against what transformers computes for them, where the shared data is.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explainConfig } from "../../bindings/js/config.js";
import { sharedLab } from "./lab.js";
import { sharedFolder } from "./shared.js";

interface Expected {
  modelType: string | null;
  none?: string;
  layers?: Record<string, { rotaryDim: number; attentionFactor: number; inverseFrequencies: number[] }>;
}

const folder = sharedFolder("data/configs");
const lab = await sharedLab();
/** transformers computes in float32. */
const kRelative = 2e-6;

describe.skipIf(folder === null)("real configs", () => {
  const names = folder === null ? [] : readdirSync(folder).filter((name) => !/^(expected|SOURCES)\.json$/.test(name));
  const expectedByName =
    folder === null
      ? {}
      : (JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Record<string, Expected>);

  it.each(names)("%s", (name) => {
    const { modelType, layers: expectedLayers } = expectedByName[name]!;
    const { modelType: got, layers } = explainConfig(readFileSync(join(folder!, name), "utf8"), { lab });
    if (modelType !== null) expect(got).toBe(modelType);
    for (const [kind, expected] of Object.entries(expectedLayers ?? {})) {
      const layer = layers[kind]!;
      expect(layer.rotaryDim).toBe(expected.rotaryDim);
      expect(Math.abs(layer.attentionFactor! / expected.attentionFactor - 1)).toBeLessThan(kRelative);
      expect(layer.inverseFrequencies).toHaveLength(expected.inverseFrequencies.length);
      expected.inverseFrequencies.forEach((frequency, pair) => {
        expect(Math.abs(layer.inverseFrequencies![pair]! / frequency - 1)).toBeLessThan(kRelative);
      });
    }
  });
});
