// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import type { Task } from "../../engine/poslab.js";
import { taskTypes, type TaskType } from "../../state/fields.js";
import { sampleRows } from "./samples.js";

type Toy = Exclude<TaskType, "text">;
const rowsOf = (type: Toy) =>
  sampleRows({
    type,
    ...(type === "lookback" ? { distance: 5 } : type === "fixed-position" ? { position: 3 } : {}),
  } as Task);
const toys = taskTypes.filter((task): task is Toy => task !== "text");

describe("sample rows", () => {
  it("are three different ones a task, answers as long as rows", async () => {
    for (const task of toys) {
      const rows = await rowsOf(task);
      expect(new Set(rows.map((row) => row.input)).size, task).toBe(3);
      for (const { input, answer } of rows) {
        expect(answer, task).toHaveLength(input.length);
        expect(answer, task).toMatch(/[^·]/);
      }
    }
  });

  it("follow their task's rule, checked from the row alone", async () => {
    const check: Partial<Record<Toy, (input: string, t: number) => string>> = {
      lookback: (input, t) => (t >= 5 ? input[t - 5]! : "·"),
      "fixed-position": (input, t) => (t > 3 ? input[3]! : "·"),
      first: (input, t) => (t > 0 ? input[0]! : "·"),
      needle: (input, t) => (t > input.search(/[A-H]/) ? input.match(/[A-H]/)![0] : "·"),
      "position-modulo": (_, t) => String(t % 4),
    };
    for (const [task, rule] of Object.entries(check)) {
      for (const { input, answer } of await rowsOf(task as Toy)) {
        expect([...input].map((_, t) => rule(input, t)).join(""), task).toBe(answer);
      }
    }
  });

  it("recall a value only at a key that was there before", async () => {
    for (const { input, answer } of await rowsOf("recall")) {
      for (let t = 0; t < input.length; t += 1) {
        const before = t % 2 === 0 ? input.slice(0, t).indexOf(input[t]!) : -1;
        expect(answer[t]).toBe(before >= 0 ? input[before + 1] : "·");
      }
    }
  });

  it("copy and reverse so that each answer is the next input", async () => {
    for (const task of ["copy", "reverse"] as const) {
      for (const { input, answer } of await rowsOf(task)) {
        const [list] = input.split("|") as [string];
        const said = answer.slice(list.length).replaceAll("·", "");
        expect(said).toBe(task === "copy" ? list : [...list].reverse().join(""));
        expect(input.slice(list.length + 1).replaceAll("_", "")).toBe(said);
      }
    }
  });
});
