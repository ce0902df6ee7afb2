// SPDX-License-Identifier: MIT
// The recorded runs of the page are what this build makes: their first steps are trained again and compared to the bit.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { resultSvg } from "../../bindings/cli/result-svg.js";
import { loadPosLab, readSafetensors, type ExperimentResult } from "poslab";

const folder = new URL("../../web/public/recorded/", import.meta.url);
const corpus = new URL("../../web/public/corpora/moby-dick.txt", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder));

interface Entry {
  file: string;
  experiment: ExperimentResult["experiment"];
  weightsSeed: number | null;
  weights: string[];
}
const index = JSON.parse(read("index.json").toString("utf8")) as Entry[];

describe("the recorded runs", () => {
  it("are named with their build and seeds and listed, all of them and nothing else", () => {
    const listed = index.flatMap((entry) => [entry.file, ...entry.weights]);
    // The picture of the README is drawn from the first recording and lives beside it.
    expect(readdirSync(fileURLToPath(folder)).sort()).toEqual(["index.json", "race.svg", ...listed].sort());
    for (const { file } of index) {
      const { build, experiment } = JSON.parse(read(file).toString("utf8")) as ExperimentResult;
      expect(file).toContain(`build${build.version}-seeds${experiment.seeds.join("-")}`);
    }
  });

  it("are drawn in the README's picture as the command draws them now (npm run record -- picture)", async () => {
    const result = JSON.parse(read(index[0]!.file).toString("utf8")) as ExperimentResult;
    expect(await resultSvg(result, readFileSync(corpus))).toBe(read("race.svg").toString("utf8"));
  });

  it("are small enough to be fetched: 250 kB of weights an encoding, 2.5 MB in all", () => {
    const size = (file: string) => statSync(new URL(file, folder)).size;
    for (const { weights } of index) for (const file of weights) expect(size(file), file).toBeLessThanOrEqual(250_000);
    expect(
      index.flatMap((entry) => [entry.file, ...entry.weights]).reduce((sum, file) => sum + size(file), 0),
    ).toBeLessThan(2_500_000);
  });

  it("start as the same experiment starts now, to the bit", async () => {
    const entry = index[0]!;
    const { experiment, runs } = JSON.parse(read(entry.file).toString("utf8")) as ExperimentResult;
    const rope = experiment.encodings.findIndex((encoding) => encoding.type === "rope");
    const recorded = runs.find((run) => run.encoding === rope && run.seed === experiment.seeds[0])!;
    const [steps, loss] = recorded.training[0]!;
    const lab = await loadPosLab();
    const run = lab.createRun(experiment, rope, recorded.seed, lab.corpus(readFileSync(corpus)));
    run.advance(steps);
    expect(run.progress().step).toBe(steps);
    expect(run.result().training[0]).toEqual([steps, loss]);
    run.dispose();
  });

  it("have weights that measure as recorded, but for half precision", async () => {
    const entry = index[0]!;
    const { experiment, runs } = JSON.parse(read(entry.file).toString("utf8")) as ExperimentResult;
    const alibi = experiment.encodings.findIndex((encoding) => encoding.type === "alibi");
    const weights = new Uint8Array(read(entry.weights[alibi]!));
    expect([...readSafetensors(weights).tensors.values()].every((tensor) => tensor.dtype === "F16")).toBe(true);
    const recorded = runs.find((run) => run.encoding === alibi && run.seed === entry.weightsSeed)!;
    const lab = await loadPosLab();
    const run = lab.createRun(experiment, alibi, recorded.seed, lab.corpus(readFileSync(corpus)));
    run.setWeights(weights);
    const measuring = run.measuring(
      {},
      experiment.training.length,
      experiment.test.windows,
      () => experiment.test.windows,
    );
    let step = measuring.next();
    while (!step.done) step = measuring.next();
    const before = recorded.byLength.find((own) => own.length === experiment.training.length)!;
    // Weights of about 1 rounded to 11 bits: each is off by at most 2^-11, and their effects on the loss nearly cancel.
    expect(Math.abs(step.value.entry.lossAtEnd! - before.lossAtEnd!)).toBeLessThan(0.005);
    run.dispose();
  });
});
