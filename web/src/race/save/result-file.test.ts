// SPDX-License-Identifier: MIT
/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { entry, run, shown } from "../testing.js";
import { resultJson } from "./files.js";
import { readResult } from "./result-file.js";

const saved = resultJson(
  shown({ encodings: [{ type: "rope" }, { type: "alibi" }], seeds: [4], test: { lengths: [64, 128] } }, [
    run(0, 4, [entry(64, 1.25), entry(128, null, { reason: "not defined" })]),
    run(1, 4, [entry(64, 1.5), entry(128, 1.75)]),
  ]),
);
type Loose = { runs: Record<string, unknown>[]; experiment: { encodings: unknown[] }; build?: unknown };
const changed = (change: (json: Loose) => void): string => {
  const json = JSON.parse(saved) as Loose;
  change(json);
  return JSON.stringify(json);
};
const problem = (text: string) => {
  const read = readResult(text, 0);
  return "problem" in read ? read.problem : null;
};

describe("a result file", () => {
  it("comes back as it was saved", () => {
    const read = readResult(saved, 77);
    if ("problem" in read) throw new Error(JSON.stringify(read.problem));
    expect(read.shown.date).toBe(77);
    expect(resultJson(read.shown)).toBe(saved);
  });

  it("of the command is one, too: those that are recorded with the site", () => {
    const folder = new URL("../../../public/recorded/", import.meta.url);
    const index = JSON.parse(readFileSync(new URL("index.json", folder), "utf8")) as { file: string }[];
    for (const { file } of index) expect(problem(readFileSync(new URL(file, folder), "utf8")), file).toBeNull();
  });

  it("that is none is refused with the place that is wrong", () => {
    expect(problem("\u0000")).toEqual({ kind: "not-json" });
    for (const text of ["null", "[]", "7", '"text"', "{}"]) expect(problem(text)?.kind, text).toBe("not-result");
    expect(problem(changed((json) => delete json.build))).toEqual({ kind: "not-result", where: "build" });
    expect(problem(changed((json) => (json.runs[1]!["byLength"] = [{ length: "64" }])))).toMatchObject({
      kind: "not-result",
      where: "runs.1.byLength.0.length",
    });
    expect(problem(changed((json) => (json.runs[0]!["encoding"] = 9)))).toEqual({
      kind: "foreign-run",
      encoding: 9,
      seed: 4,
    });
    const refused = problem(changed((json) => (json.experiment.encodings = [])));
    expect(refused).toMatchObject({ kind: "refused", error: { argument: "encodings" } });
    const unknown = changed((json) => (json.experiment.encodings[1] = { type: "from-tomorrow" }));
    expect(problem(unknown)).toMatchObject({ kind: "unknown-scheme", type: "from-tomorrow" });
  });
});
