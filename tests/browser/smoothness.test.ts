// SPDX-License-Identifier: MIT
// Tasks of the main thread while runs train, by the processor time that they took: a busy machine that gives the page
// no time does not count against it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, mainThreadTasks, openSite, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("while runs train", () => {
  it("no task of the page's own thread takes more than 50 ms", async () => {
    const { page, context } = await visit(site, { hash: "#/race?v=1&steps=5000" });
    await page.getByText(/Past 64, /).waitFor();
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText), undefined, { timeout: 60_000 });
    const { all, long } = await mainThreadTasks(site, page, () => page.waitForTimeout(8000));
    // That tasks were seen at all: a busy machine leaves time for few.
    expect(all).toBeGreaterThan(10);
    expect(long).toEqual([]);
    await context.close();
  });
});
