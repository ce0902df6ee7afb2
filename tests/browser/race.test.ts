// SPDX-License-Identifier: MIT
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, stepsShown, tinyRace, untilFinished, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

/** Long enough to be interrupted. */
const kLong = 20_000;

describe("a race", () => {
  it("runs to its end, says so, and is kept", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.getByText("All runs are done.").waitFor();
    await page.getByText("Measured in this tab", { exact: true }).waitFor();
    expect(await page.locator("section[aria-labelledby=lanes-heading] li .state", { hasText: "done" }).count()).toBe(2);
    await page
      .getByText(/^finished$/)
      .nth(1)
      .waitFor(); // in the list of kept runs
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("is said to be gone where it is in the list and not in the storage", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    await button(page, "Run it here").click();
    await untilFinished(page);
    const open = page.getByRole("button", { name: /^Open: / });
    await open.waitFor();
    await page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open("keyval-store");
          opening.onerror = () => reject(opening.error!);
          opening.onsuccess = () => {
            const change = opening.result.transaction("keyval", "readwrite");
            change.objectStore("keyval").delete(IDBKeyRange.bound("race:", "race;"));
            change.oncomplete = () => resolve();
          };
        }),
    );
    const notice = page.getByRole("alert").filter({ hasText: "not in the browser's storage any more" });
    await open.click();
    await notice.waitFor();
    // What is run or opened after that has no such notice.
    await button(page, "Run it here").click();
    await untilFinished(page);
    await notice.waitFor({ state: "detached" });
    await expect.poll(() => open.count()).toBe(2);
    await open.last().click();
    await notice.waitFor();
    await open.first().click();
    await notice.waitFor({ state: "detached" });
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("goes from the page with its entry in the list, when it is what is drawn", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.getByRole("button", { name: /^Open: / }).click();
    await page.locator(".mark", { hasText: "kept in this browser" }).waitFor();
    await page.getByRole("button", { name: /^Delete: / }).click();
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    await page.getByText("None yet.").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("is paused, stepped, left by a reload, and goes on to the end", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(12_000) });
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText));
    await button(page, "Pause").click();
    await button(page, "Continue").waitFor();
    await page.waitForTimeout(400);
    const before = await stepsShown(page);
    await page.keyboard.press(".");
    await page.waitForTimeout(400);
    const after = await stepsShown(page);
    expect(after.length).toBeGreaterThan(0);
    expect(after).toEqual(before.map((step) => step + 1));
    // What pause kept is what the next visit finds; the step after it is not stored until the next save.
    await button(page, "Continue").click();
    await page.waitForTimeout(300);
    await button(page, "Pause").click();
    await page.waitForTimeout(1000);
    const kept = await stepsShown(page);
    await page.reload();
    await page.getByText("Your last run was not finished.").waitFor();
    await button(page, "Continue").waitFor();
    expect(await stepsShown(page)).toEqual(kept);
    await button(page, "Continue").click();
    await untilFinished(page);
    expect(await page.getByText("Your last run was not finished.").count()).toBe(0);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("is cancelled at once: its workers end and the recorded result is back", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(kLong) });
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText));
    await button(page, "Cancel").click();
    await page.getByText("Recorded", { exact: true }).waitFor();
    await expect.poll(() => page.workers().length).toBe(0);
    await page.getByText("None yet.").waitFor(); // nothing of it is kept
    await context.close();
  });

  it("goes back to the same start, and to another one with a new seed", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(kLong) });
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText));
    await page.keyboard.press("r");
    await button(page, "Continue").waitFor();
    await page.getByText("Back at the start.").waitFor();
    expect(await page.getByText(/step [1-9]/).count()).toBe(0);
    await page.keyboard.press("Shift+R");
    await page.waitForFunction(() => location.hash.includes("seed=2"));
    await page.getByText("Training", { exact: true }).click();
    const seed = page.getByRole("textbox", { name: "First seed" });
    await seed.fill(String(2 ** 31));
    await button(page, "New seed").click();
    await expect.poll(() => seed.inputValue()).toBe("1"); // there is none above
    await context.close();
  });

  it("is at its start after a rewind and a reload, though later states were stored", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(kLong) });
    await button(page, "Run it here").click();
    await page.getByText("not finished").waitFor(); // in the list of kept runs
    await page.waitForTimeout(500); // its states follow
    await button(page, "Rewind").click();
    await page.getByText("Back at the start.").waitFor();
    await page.waitForTimeout(500);
    await page.reload();
    await page.getByText("Your last run was not finished.").waitFor();
    await button(page, "Continue").waitFor();
    expect(await page.getByText(/step [1-9]/).count()).toBe(0);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("obeys the keyboard, and stops obeying when shortcuts are switched off", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(kLong) });
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.getByRole("checkbox", { name: "Use these shortcuts" }).uncheck();
    await button(page, "Close").click();
    await page.keyboard.press("Space");
    await page.waitForTimeout(500);
    expect(await button(page, "Run it here").count()).toBe(1);
    await button(page, "Shortcuts").click();
    await page.getByRole("checkbox", { name: "Use these shortcuts" }).check();
    await button(page, "Close").click();
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("Space");
    await button(page, "Pause").waitFor();
    await context.close();
  });

  it("leaves keys alone while someone types", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(kLong) });
    await page.getByRole("textbox", { name: "Trained length L" }).press("Space");
    await page.waitForTimeout(300);
    expect(await button(page, "Pause").count()).toBe(0);
    await context.close();
  });
});

describe("what comes after training", () => {
  it("changes recorded weights at test time, without any training", async () => {
    const { page, context, troubles } = await visit(site);
    await page.getByText(/Past 64, /).waitFor();
    await page.getByRole("combobox", { name: "Change", exact: true }).selectOption("window");
    await page.getByRole("textbox", { name: "Keys seen" }).fill("16");
    await button(page, "Measure").click();
    await page.getByText("Measured on the weights of seed 1.").waitFor({ timeout: 60_000 });
    expect(await page.getByRole("img", { name: /RoPE, window 16: \d/ }).count()).toBe(1);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("says in the page's language where a full table leaves no room to write", async () => {
    const { page, context, troubles } = await visit(site, {
      locale: "zh-CN",
      hash: "#/race?v=1&L=16&e=learned,none&dim=16&heads=2&ff=32&batch=4&steps=20&windows=8",
    });
    await button(page, "在此运行").click();
    await page.locator(".bar .time", { hasText: "已完成" }).waitFor({ timeout: 60_000 });
    await button(page, "续写").click();
    await page.getByText("开头已占满这种编码的 16 个位置").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("writes on with recorded weights, past the trained length", async () => {
    const { page, context, troubles } = await visit(site);
    await button(page, "Write").click();
    await page.waitForFunction(() => document.querySelectorAll(".text .mark").length >= 4, undefined, {
      timeout: 60_000,
    });
    const written = await page.locator(".text").first().innerText();
    expect(written.length).toBeGreaterThan(64);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("maps one encoding at every tested length", async () => {
    const { page, context } = await visit(site);
    await page.getByRole("combobox", { name: "Rows" }).selectOption({ label: "lengths, ALiBi" });
    await page.waitForFunction(() => document.querySelectorAll(".labels li").length === 9, undefined, {
      timeout: 60_000,
    });
    await context.close();
  });
});
