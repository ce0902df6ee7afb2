// SPDX-License-Identifier: MIT
// `poslab explain`: from a file and from standard input, in words and as JSON, and what it refuses.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ConfigExplanation } from "../../bindings/js/config.js";
import { poslab, temporaryFolder } from "./support.js";

const path = join(temporaryFolder(), "config.json");
const config = JSON.stringify({
  model_type: "gpt_oss",
  head_dim: 64,
  num_hidden_layers: 4,
  sliding_window: 128,
  max_position_embeddings: 131072,
  rope_theta: 150000,
  rope_scaling: { type: "yarn", factor: 32, original_max_position_embeddings: 4096, truncate: false },
});
writeFileSync(path, config);

describe("explain", () => {
  test("prints every value with its key, and cautions", async () => {
    const { status, stdout, stderr } = await poslab(["explain", path]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^gpt_oss: texts up to 131072 tokens\n/);
    expect(stdout).toMatch(/sliding_attention \(2 of 4\)/);
    expect(stdout).toMatch(/theta +150000 +rope_theta\n/);
    expect(stdout).toMatch(/window +128 +sliding_window\n/);
    expect(stdout).toContain("old-spelling: rope_scaling.type");
  });

  test("prints JSON and nothing else, the same from standard input", async () => {
    const { stdout } = await poslab(["explain", path, "--json"]);
    const explanation = JSON.parse(stdout) as ConfigExplanation;
    expect(explanation).toMatchObject({
      modelType: "gpt_oss",
      usableLength: 131072,
      layers: { all: { rotaryDim: 64, window: null, softmaxScale: 0.125, sources: { theta: "rope_theta" } } },
    });
    expect(explanation.layers.all!.inverseFrequencies).toHaveLength(32);
    expect(explanation.layers.all!.inverseFrequencies![17]).toBeCloseTo(1.29318701e-4, 12);
    for (const words of [
      ["explain", "-", "--json"],
      ["explain", "--json"],
    ])
      expect((await poslab(words, { input: config })).stdout).toBe(stdout);
  });

  test("takes one layer, by number or kind", async () => {
    for (const layer of ["0", "sliding_attention"]) {
      const { stdout } = await poslab(["explain", path, "--json", "--layer", layer]);
      expect(Object.keys((JSON.parse(stdout) as ConfigExplanation).layers)).toEqual(["sliding_attention"]);
    }
  });

  test("names what is wrong in one line and ends with status 2", async () => {
    const refused = async (words: string[], input = ""): Promise<string> => {
      const { status, stdout, stderr } = await poslab(["explain", ...words], { input });
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(/^poslab: .*\n$/);
      return stderr;
    };
    expect(await refused([], '{"model_type":"llama","head_dim":8,"rope_theta":"10000"}')).toContain("rope_theta");
    expect(await refused([], '{"model_type":"llama","head_dim":8,"rope_theta":NaN}')).toContain("rope_theta: NaN");
    expect(await refused([], "{}")).toContain("position");
    expect(await refused(["no-such-file.json"])).toContain("no such file");
    expect(await refused([path, "--layer", "9"])).toContain("layer");
  });
});
