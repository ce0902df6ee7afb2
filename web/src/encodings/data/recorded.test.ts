// SPDX-License-Identifier: MIT
/// <reference types="node" />
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { RecordedEntry } from "../../race/recorded.js";
import type { Shown } from "../../race/shown.js";
import { outcomeOf, races } from "./recorded.js";

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../public/recorded/${file}`, import.meta.url), "utf8"));

it("finds what the recorded race measured for an encoding, and that a table has nothing past its end", () => {
  const entry = (read("index.json") as RecordedEntry[]).find(({ experiment }) => experiment.task.type === "text")!;
  const result = read(entry.file) as Shown;
  expect(races(result.experiment.encodings, { type: "rope" })).toBe(true);
  expect(races(result.experiment.encodings, { type: "rope", theta: 500 })).toBe(false);

  const { length, losses } = outcomeOf(result, { type: "sinusoidal" });
  expect(losses.map((entry) => entry.length)).toEqual([
    length,
    2 * length,
    Math.max(...result.experiment.test.lengths),
  ]);
  const index = result.experiment.encodings.findIndex(({ type }) => type === "sinusoidal");
  const own = result.runs.filter((run) => run.encoding === index);
  const atLength = own.map((run) => run.byLength.find((row) => row.length === length)!.lossAtEnd!);
  expect(losses[0]!.loss).toBeCloseTo(atLength.reduce((sum, loss) => sum + loss, 0) / atLength.length, 10);
  expect(losses[1]!.loss! - losses[0]!.loss!).toBeGreaterThan(0.5);
  expect(outcomeOf(result, { type: "learned" }).losses[1]!.loss).toBeNull();
});
