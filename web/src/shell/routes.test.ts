// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { readRoute, routeHash } from "./routes.js";

describe("routes", () => {
  it("name a page and keep what stands after the question mark", () => {
    expect(readRoute("#/race?v=1&e=rope?")).toEqual({ page: "race", query: "v=1&e=rope?" });
    expect(routeHash(readRoute("#/race?v=1"))).toBe("#/race?v=1");
    expect(routeHash({ page: "race", query: "" })).toBe("#/race");
  });

  it("lead home from anywhere else", () => {
    for (const hash of ["", "#", "#/", "#/nowhere", "#race"]) expect(readRoute(hash).page, hash).toBe("race");
  });
});
