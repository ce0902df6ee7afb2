// SPDX-License-Identifier: MIT
// Tasks of the main thread while runs train, by the processor time that they took: a busy machine that gives the page
// no time does not count against it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** microseconds of processor time */ tdur?: number;
  args?: { name?: string };
}
const kLongTask = 50_000;

describe("while runs train", () => {
  it("no task of the page's own thread takes more than 50 ms", async () => {
    const { page, context } = await visit(site, { hash: "#/race?v=1&steps=5000" });
    await page.getByText(/Past 64, /).waitFor();
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText), undefined, { timeout: 60_000 });
    await site.browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
    await page.waitForTimeout(8000);
    const { traceEvents } = JSON.parse((await site.browser.stopTracing()).toString("utf8")) as {
      traceEvents: TraceEvent[];
    };
    const main = traceEvents.filter((event) => event.name === "thread_name" && event.args?.name === "CrRendererMain");
    const onMain = (event: TraceEvent) => main.some(({ pid, tid }) => pid === event.pid && tid === event.tid);
    const tasks = traceEvents.filter(
      (event) => /RunTask$/.test(event.name) && onMain(event) && event.tdur !== undefined,
    );
    expect(tasks.length).toBeGreaterThan(50);
    expect(tasks.filter((task) => task.tdur! > kLongTask).map((task) => task.tdur)).toEqual([]);
    await context.close();
  });
});
