// SPDX-License-Identifier: MIT
// The way of somebody who wants to know why the curves part: from the verdict of the race to what an encoding is, on to who
// looks at whom under it, and back.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const hash = "location.hash";

describe("from the race to the reason", () => {
  for (const locale of ["en-GB", "zh-CN"]) {
    it(`leads from page to page with the same encoding in ${locale}`, async () => {
      const { page, context, troubles } = await visit(site, { locale });
      const verdict = page.locator(".verdict a", { hasText: "RoPE" });
      await verdict.first().click();
      await page.locator("[data-fact=unseenAngles]").waitFor();
      expect(await page.evaluate(hash)).toMatch(/^#\/encodings\/rope/);
      // What was measured stands beside the reason.
      await page.locator("[data-recorded]").waitFor();
      const measured = await page.locator("[data-recorded]").innerText();
      expect(measured.match(/\d\.\d\d/g)).toHaveLength(3);
      for (const length of ["64", "128", "1,024"]) expect(measured).toContain(` ${length}`);

      await page.locator(".onward a").first().click();
      await page.locator("[data-encoding=rope] canvas").waitFor();
      await page.locator("[data-encoding=none] canvas").waitFor();
      await page.locator("[data-encoding=rope] a.about").click();
      await page.locator("[data-fact=unseenAngles]").waitFor();
      await page.locator(".onward a").last().click();
      await page.locator(".verdict a").first().waitFor();
      expect(await page.evaluate(hash)).toMatch(/^#\/race/);
      expect(troubles).toEqual([]);
      await context.close();
    });
  }

  it("follows a link that is clicked just as the address is written", async () => {
    const { page, context, troubles } = await visit(site, {
      before: (page) =>
        page.addInitScript(() => {
          // Writes of the address wait for a click, and come before what the click leads to.
          const waiting = new Map<number, () => void>();
          const { setTimeout, clearTimeout } = window;
          const later = (work: () => void, delay?: number) => {
            if (delay !== 300) return setTimeout(work, delay);
            const id = 1_000_000 + waiting.size;
            waiting.set(id, work);
            return id;
          };
          Object.assign(window, {
            setTimeout: later,
            clearTimeout: (id: number) => waiting.delete(id) || clearTimeout(id),
          });
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => waiting.forEach((work) => work());
          addEventListener("click", () => port2.postMessage(null), true);
        }),
    });
    const verdict = page.locator(".verdict a", { hasText: "RoPE" });
    await verdict.first().waitFor();
    await page.waitForTimeout(500); // the settings are read, and a write waits
    await verdict.first().click();
    await page.locator("[data-fact=unseenAngles]").waitFor();
    expect(await page.evaluate(hash)).toMatch(/^#\/encodings\/rope/);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("shows the models of the race that is drawn", async () => {
    const { page, context, troubles } = await visit(site);
    await page.locator(".why a").click();
    for (const type of ["sinusoidal", "learned", "t5", "rope", "alibi"])
      await page.locator(`[data-encoding=${type}] canvas`).waitFor({ timeout: 60_000 });
    expect(await page.evaluate(hash)).toBe("#/attention?v=1&from=text-moby-dick");
    expect(troubles).toEqual([]);
    await context.close();
  });
});
