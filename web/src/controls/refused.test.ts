// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { RefusedFields } from "./refused.svelte.js";

describe("the list of fields that hold what cannot be used", () => {
  it("has those that entered, until they leave", () => {
    const fields = new RefusedFields();
    const leave = fields.enter("a", { label: "Steps", forget: () => {} });
    fields.enter("b", { label: "Seeds", forget: () => {} });
    expect(fields.list).toEqual([
      { id: "a", label: "Steps" },
      { id: "b", label: "Seeds" },
    ]);
    leave();
    expect(fields.list).toEqual([{ id: "b", label: "Seeds" }]);
    expect(fields.any).toBe(true);
  });

  it("puts all of them back, though each leaves while it is put back", () => {
    const fields = new RefusedFields();
    for (const id of ["a", "b", "c"]) {
      const leave = fields.enter(id, { label: id, forget: () => leave() });
    }
    fields.forgetAll();
    expect(fields.any).toBe(false);
  });
});
