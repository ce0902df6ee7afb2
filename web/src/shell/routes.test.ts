// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { readRoute, routeHash } from "./routes.js";

describe("routes", () => {
  it("name a page, what lies below it, and keep what stands after the question mark", () => {
    expect(readRoute("#/race?v=1&e=rope?")).toEqual({ page: "race", path: "", query: "v=1&e=rope?", hidden: [] });
    expect(readRoute("#/encodings/rope")).toEqual({ page: "encodings", path: "rope", query: "", hidden: [] });
    for (const hash of ["#/race?v=1", "#/encodings/rope?v=1&dim=8&hide=use", "#/attention?hide=save,text", "#/race"])
      expect(routeHash(readRoute(hash))).toBe(hash);
  });

  it("take from a lesson link what it hides", () => {
    expect(readRoute("#/race?v=1&hide=setup,save&L=32")).toMatchObject({
      query: "v=1&L=32",
      hidden: ["setup", "save"],
    });
    expect(readRoute("#/race?hide=,%3Cb%3E").hidden).toEqual([]);
  });

  it("lead home from anywhere else", () => {
    for (const hash of ["", "#", "#/", "#/nowhere", "#race/x"]) expect(readRoute(hash).page, hash).toBe("race");
  });
});
