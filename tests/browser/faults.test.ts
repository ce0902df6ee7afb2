// SPDX-License-Identifier: MIT
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, tinyRace, untilFinished, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("faults", () => {
  it("of a worker are reported in its lane while the others go on", async () => {
    let workers = 0;
    const { page, context } = await visit(site, {
      hash: tinyRace(300),
      before: async (page) => {
        await page.addInitScript(() => localStorage.setItem("poslab.speed", "1e9"));
        await page.route(/assets\/worker-.*\.js/, (route) => (++workers === 2 ? route.abort() : route.continue()));
      },
    });
    await button(page, "Run it here").click();
    await page
      .getByRole("alert")
      .filter({ hasText: /worker of this run stopped|This run stopped/ })
      .first()
      .waitFor({ timeout: 60_000 });
    await expect
      .poll(() => page.locator("section[aria-labelledby=lanes-heading] li .state", { hasText: "done" }).count(), {
        timeout: 60_000,
      })
      .toBeGreaterThanOrEqual(1);
    await untilFinished(page);
    await context.close();
  });

  it("of a forbidden storage are said, and the race runs all the same", async () => {
    const { page, context, troubles } = await visit(site, {
      hash: tinyRace(60),
      before: (page) =>
        page.addInitScript(() => {
          const refuse = () => {
            throw new DOMException("denied", "SecurityError");
          };
          Object.defineProperty(window, "indexedDB", { get: refuse });
          Object.defineProperty(window, "localStorage", { get: refuse });
        }),
    });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.getByText("The browser forbids storage here").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("of a storage that never answers leave a page that trains, shares and cancels", async () => {
    const { page, context, troubles } = await visit(site, {
      hash: tinyRace(60),
      before: (page) =>
        page.addInitScript(() => {
          IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest;
        }),
    });
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    await page.getByRole("textbox", { name: /^Trained length/ }).fill("20");
    await page.waitForFunction(() => location.hash.includes("L=20"));
    await button(page, "Run it here").click();
    await untilFinished(page);
    await button(page, "Cancel").click();
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("of a full storage are said", async () => {
    const { page, context, troubles } = await visit(site, {
      hash: tinyRace(60),
      before: (page) =>
        page.addInitScript(() => {
          IDBObjectStore.prototype.put = () => {
            throw new DOMException("full", "QuotaExceededError");
          };
        }),
    });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.getByText("storage is full").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("of a missing recording leave a page that can still train", async () => {
    const { page, context } = await visit(site, {
      hash: tinyRace(40),
      before: (page) => page.route(/recorded\//, (route) => route.fulfill({ status: 404, body: "" })),
    });
    await page.getByText("The recorded run could not be loaded.").waitFor();
    await button(page, "Run it here").click();
    await untilFinished(page);
    await context.close();
  });

  it("of an own text are said: too short, and not text at all", async () => {
    const { page, context } = await visit(site);
    await page.getByRole("combobox", { name: "Text", exact: true }).selectOption("own");
    await page.getByText("Paste a text or open a file first.").waitFor();
    await page.getByRole("textbox", { name: "Paste a text" }).fill("too short to learn from");
    await page.getByText(/Too short: at least [\d,]+ characters are needed, this has 23\./).waitFor();
    await page
      .locator(".own input[type=file]")
      .setInputFiles({ name: "picture.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(20_000, 0xff) });
    await page.getByText(/picture\.bin: 20,000 characters/).waitFor();
    expect(await page.getByRole("radio", { name: "bytes" }).isChecked()).toBe(true);
    await page.getByRole("radio", { name: "characters" }).check();
    await page.getByText("This file is not UTF-8 text.").waitFor();
    await context.close();
  });
});
