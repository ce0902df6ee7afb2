// SPDX-License-Identifier: MIT
// The texts of options become values, and wrong ones are told what would be allowed.

import { describe, expect, test } from "vitest";
import {
  assignment,
  countOrList,
  finiteNumber,
  jsonProblem,
  nameOrObject,
  namesOrObjects,
  wholeNumber,
  wholeNumbers,
} from "../../bindings/cli/arguments.js";
import { overrideExperiment } from "../../bindings/cli/experiment-options.js";
import { setField } from "../../bindings/cli/object-path.js";

describe("numbers", () => {
  test("whole numbers may be written with an exponent and must lie within their limits", () => {
    expect(wholeNumber(1)("12")).toBe(12);
    expect(wholeNumber(1)("1e3")).toBe(1000);
    for (const wrong of ["", " ", "0", "1.5", "-3", "x", "NaN", "Infinity"]) {
      expect(() => wholeNumber(1)(wrong), wrong).toThrow("Allowed: a whole number, 1 or more.");
    }
    expect(() => wholeNumber(1, 4)("5")).toThrow("from 1 to 4");
    expect(() => wholeNumber(0)("9007199254740993")).toThrow("from 0 to 9007199254740991");
  });

  test("finite numbers respect their lower end", () => {
    expect(finiteNumber(0)("0.006")).toBe(0.006);
    expect(() => finiteNumber(0)("0")).toThrow("larger than 0");
    expect(() => finiteNumber()("Infinity")).toThrow("Allowed: a number.");
  });

  test("lists of whole numbers take no empty entries", () => {
    expect(wholeNumbers(1)("64, 128,256")).toEqual([64, 128, 256]);
    expect(() => wholeNumbers(1)("64,,128")).toThrow("commas between them");
  });

  test("one number counts seeds, a list names them, and a comma after a number makes it a list", () => {
    const seeds = countOrList(1, 1000);
    expect(seeds("3")).toEqual([1, 2, 3]);
    expect(seeds("4,8")).toEqual([4, 8]);
    expect(seeds("7,")).toEqual([7]);
    expect(() => seeds("5,5")).toThrow("differ");
    expect(() => seeds("0")).toThrow("from 1 to 1000");
  });
});

describe("names and JSON", () => {
  test("encodings mix names and JSON objects, with commas inside objects left alone", () => {
    expect(namesOrObjects('rope, {"type":"alibi","slopes":[0.5,0.25]},none')).toEqual([
      "rope",
      { type: "alibi", slopes: [0.5, 0.25] },
      "none",
    ]);
    expect(namesOrObjects('["rope",{"type":"t5","label":"a, b"}]')).toEqual(["rope", { type: "t5", label: "a, b" }]);
    expect(namesOrObjects('{"type":"rope","label":"quote \\" and , comma"}')).toEqual([
      { type: "rope", label: 'quote " and , comma' },
    ]);
    expect(() => namesOrObjects("rope,,alibi")).toThrow("Allowed");
    expect(() => namesOrObjects("[1,2]")).toThrow("an array of names and scheme objects");
  });

  test("faulty JSON is reported with its place", () => {
    // Parsers name the place either by position or by showing it; either way it must be there.
    expect(() => nameOrObject('{"type": rope}')).toThrow(/It is not JSON: Unexpected token 'r'.*(rope|column 10)/);
    const text = '{\n  "a": 1\n  "b": 2\n}';
    const problem = (() => {
      try {
        return JSON.parse(text) as string;
      } catch (error) {
        return jsonProblem(error, text);
      }
    })();
    expect(problem).toMatch(/line 3, column 3$/);
  });

  test("field=value reads the value as JSON where it can", () => {
    expect(assignment("training.warmup=50")).toEqual({ path: "training.warmup", value: 50 });
    expect(assignment("model.norm=rms")).toEqual({ path: "model.norm", value: "rms" });
    expect(assignment("model.tied=true")).toEqual({ path: "model.tied", value: true });
    expect(assignment('task.text="a=b"')).toEqual({ path: "task.text", value: "a=b" });
    expect(() => assignment("warmup")).toThrow("field=value");
  });

  test("a field can be set at any depth but never in a prototype", () => {
    const target = { training: { length: 64 } };
    setField(target, "training.warmup", 5, "--set");
    setField(target, "model.norm", "rms", "--set");
    expect(target).toEqual({ training: { length: 64, warmup: 5 }, model: { norm: "rms" } });
    expect(() => setField(target, "__proto__.polluted", 1, "--set")).toThrow("is not the name of a field");
    expect(() => setField(target, "training.length.x", 1, "--set")).toThrow("training.length has no fields, it is 64");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("options over an experiment", () => {
  test("replace their fields and leave the others", () => {
    const base = { training: { length: 32, tokens: 1000, warmup: 7 }, seeds: [9] };
    const { experiment } = overrideExperiment(base, { steps: 5, dim: 16, seeds: [1, 2], test: [32, 64] });
    expect(experiment).toEqual({
      training: { length: 32, warmup: 7, steps: 5 },
      model: { dim: 16 },
      seeds: [1, 2],
      test: { lengths: [32, 64] },
    });
    expect(base.training.tokens).toBe(1000);
  });

  test("nothing given leaves {} as it is, which is the built-in experiment", () => {
    expect(overrideExperiment({}, {}).experiment).toEqual({});
  });

  test("--encodings drops changes at test time that refer to the old list, and says so", () => {
    const { experiment, notices } = overrideExperiment(
      { encodings: [{ type: "rope" }], atTest: [{ of: 0, window: 8 }] },
      { encodings: ["alibi"] },
    );
    expect(experiment).toEqual({ encodings: [{ type: "alibi" }], atTest: [] });
    expect(notices.join()).toContain("--at-test");
  });

  test("--corpus replaces a text of the experiment and keeps its unit", () => {
    const { experiment } = overrideExperiment(
      { task: { type: "text", text: "abc", unit: "bytes" } },
      { corpus: "book.txt" },
    );
    expect(experiment.task).toEqual({ type: "text", corpus: "book.txt", unit: "bytes" });
  });
});
