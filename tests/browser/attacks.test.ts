// SPDX-License-Identifier: MIT
// Impatient hands, other tabs, history, and what comes from outside: links, texts and result files of any kind.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, stepsShown, tinyRace, untilFinished, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const kLong = 100_000;
const hash = (page: Page) => page.evaluate(() => location.hash);
const running = (page: Page) => button(page, "Pause").waitFor({ timeout: 60_000 });
const recorded = (page: Page) => page.locator(".mark", { hasText: "Recorded" }).waitFor();

describe("impatient hands", () => {
  it("clicking twice start one race, and cancel it", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(kLong) });
    await recorded(page);
    for (let round = 0; round < 2; round += 1) {
      await button(page, "Run it here").dblclick();
      await page.waitForFunction(() => document.querySelector(".bar .start:not([aria-disabled=true])"));
      await expect.poll(() => stepsShown(page).then(({ length }) => length)).toBe(2);
      await button(page, "Cancel")
        .dblclick({ timeout: 5000 })
        .catch(() => {}); // the second click finds it disabled
      await recorded(page);
      expect(await button(page, "Run it here").isEnabled()).toBe(true);
    }
    await page.locator("body").press("Shift+R");
    await page.locator("body").press("Shift+R");
    await button(page, "Run it here").click();
    await page.locator("body").press("Shift+R");
    await page.locator("body").press("r");
    await page.locator("body").press(".");
    await button(page, "Cancel").click();
    await recorded(page);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("the history", () => {
  it("has an entry for each race that was started, and none for what was only tried", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(40) });
    await recorded(page);
    const before = await hash(page);
    for (const length of ["18", "20"]) await page.getByRole("textbox", { name: /^Trained length/ }).fill(length);
    await button(page, "Run it here").click();
    await untilFinished(page);
    expect(await hash(page)).toContain("L=20");
    await page.goBack();
    await page.waitForFunction((wanted) => location.hash === wanted, before);
    expect(await page.getByRole("textbox", { name: /^Trained length/ }).inputValue()).toBe("16");
    await page.goForward();
    await page.waitForFunction(() => location.hash.includes("L=20"));
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("leads back to finished races, and past a race that was brought back by itself", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(40) });
    const length = page.getByRole("textbox", { name: /^Trained length/ });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await length.fill("20");
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.goBack();
    await page.locator(".mark", { hasText: "kept in this browser" }).waitFor();
    expect(await length.inputValue()).toBe("16");
    await page.reload();
    await page.locator(".mark", { hasText: "kept in this browser" }).waitFor();
    // Another own text under the same settings is another race.
    const text = page.getByRole("textbox", { name: "Paste a text" });
    await page.goto("about:blank");
    await page.goto(`${site.url}#/race?v=1&corpus=own&L=16&e=none&dim=16&heads=2&ff=32&batch=4&steps=20&windows=2`);
    await text.fill("to be or not to be ".repeat(300));
    await button(page, "Run it here").click();
    await untilFinished(page);
    await expect.poll(() => page.getByText(/^finished$/).count()).toBe(4); // in the bar and in the list of kept runs
    await page.reload();
    await page.locator(".mark", { hasText: "kept in this browser" }).waitFor();
    await text.fill("all the world's a stage ".repeat(300));
    await page.waitForTimeout(600); // the address follows
    await page.reload();
    await recorded(page);
    await page.waitForTimeout(1000);
    expect(await page.locator(".mark").innerText()).toBe("Recorded");

    await page.goto("about:blank");
    await page.goto(site.url + tinyRace(kLong));
    await button(page, "Run it here").click();
    await page.getByText("not finished").waitFor(); // in the list of kept runs
    await button(page, "Pause").click();
    await page.goto("about:blank");
    await page.goto(site.url);
    await page.getByText("Your last run was not finished.").waitFor();
    await page.waitForFunction(() => location.hash.includes("L=16"));
    await page.goBack();
    await page.waitForURL("about:blank");
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("left and come back to in a run finds it as it was left", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(kLong) });
    await button(page, "Run it here").click();
    await running(page);
    await expect
      .poll(() => stepsShown(page).then((steps) => (steps.length === 2 ? Math.min(...steps) : 0)), { timeout: 60_000 })
      .toBeGreaterThan(20);
    await page.getByRole("link", { name: "Encodings", exact: true }).click();
    await page.getByRole("heading", { name: "What is a positional encoding?" }).waitFor();
    await page.goBack();
    await page.getByText("Your last run was not finished.").waitFor({ timeout: 60_000 });
    const steps = await stepsShown(page);
    expect(Math.min(...steps)).toBeGreaterThan(20);
    await button(page, "Continue").click();
    await expect.poll(() => stepsShown(page).then((now) => now[0]!), { timeout: 60_000 }).toBeGreaterThan(steps[0]!);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a second tab", () => {
  it("leaves a race to the tab that runs it", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(kLong) });
    await button(page, "Run it here").click();
    await running(page);
    await page.waitForTimeout(500);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    const other = await context.newPage();
    await other.goto(`${site.url}${tinyRace(kLong)}`);
    await recorded(other);
    await other.waitForTimeout(1500);
    expect(await other.getByText("Your last run was not finished.").count()).toBe(0);
    await button(page, "Cancel").click();
    await recorded(page);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a hidden tab", () => {
  it("goes on, or pauses and goes on again where that is wished", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(kLong) });
    const hide = (hidden: boolean) =>
      page.evaluate((to) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => to });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await button(page, "Run it here").click();
    await running(page);
    await hide(true);
    await page.waitForTimeout(500);
    expect(await button(page, "Pause").count()).toBe(1);
    await hide(false);
    await page.getByRole("checkbox", { name: /^Pause while this tab is hidden/ }).check();
    await hide(true);
    await button(page, "Continue").waitFor();
    await hide(false);
    await running(page);
    await context.close();
  });
});

describe("a link from anywhere", () => {
  it("never breaks the page", async () => {
    const { page, context, troubles } = await visit(site);
    const links = [
      "#",
      "#/",
      "#//////",
      "#%",
      "#/race?%E0%A4%A",
      "#/race?v=99&L=1e999&e=__proto__,constructor~a:1",
      "#/race?z=AAAA",
      `#/race?z=${"A".repeat(5000)}`,
      `#/race?e=${"rope,".repeat(500)}`,
      "#/race?e=rope~theta:NaN&e=alibi&dim=-1&heads=0&seeds=1e9",
      "#/race?hide=%3Cscript%3E,setup",
      "#/encodings/%3Cimg src=x onerror=alert(1)%3E",
      "#/encodings/__proto__",
      "#/encodings/rope?p=rope~__proto__:1&with=<b>",
      "#/attention?e=constructor&text=%00%ED%A0%80&q=1e9",
      `#/attention?z=${"_".repeat(3000)}`,
    ];
    for (const link of links) {
      await page.evaluate((next) => (location.hash = next), link);
      await page.waitForTimeout(150);
      await page.locator("main h1").first().waitFor();
      expect(await page.locator("main script, main img[src=x]").count(), link).toBe(0);
    }
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("an own text", () => {
  it("of any kind is counted or refused, and the page stays quick", async () => {
    const { page, context, troubles } = await visit(site);
    await page.getByRole("combobox", { name: "Text", exact: true }).selectOption("own");
    const box = page.getByRole("textbox", { name: "Paste a text" });
    const file = page.locator(".own input[type=file]");
    const give = (buffer: Buffer) => file.setInputFiles({ name: "own.txt", mimeType: "text/plain", buffer });
    await give(Buffer.alloc(0));
    await page.getByText("Paste a text or open a file first.").waitFor();
    await give(Buffer.alloc(20 * 1024 * 1024, "to be or not to be, "));
    await page.getByText(/own\.txt: 20,971,520 characters/).waitFor({ timeout: 60_000 });
    await give(Buffer.alloc(20 * 1024 * 1024 + 1, "a"));
    await page.getByText(/20 MB/).first().waitFor();
    await give(Buffer.from("a\u0000b ".repeat(4000)));
    await page.getByText(/own\.txt: 16,000 characters/).waitFor({ timeout: 60_000 });
    await box.evaluate((element: HTMLTextAreaElement) => {
      element.value = "x\ud800y ".repeat(4000); // half of a pair
      element.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.getByText(/^16,000 characters/).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a result file", () => {
  it("is opened by choosing or dropping it, or refused with the reason", async () => {
    const { page, context, troubles } = await visit(site);
    await recorded(page);
    const text = await page.evaluate(async () => {
      const [entry] = (await (await fetch("recorded/index.json")).json()) as { file: string }[];
      return await (await fetch(`recorded/${entry!.file}`)).text();
    });
    const file = page.getByLabel("Open a result file");
    const give = (content: string) =>
      file.setInputFiles({ name: "result.json", mimeType: "application/json", buffer: Buffer.from(content) });
    await give(text);
    await page.locator(".mark", { hasText: "Opened from a file" }).waitFor();
    await page.locator(".verdict a").first().waitFor();
    for (const [content, said] of [
      ["{", "The file is not JSON."],
      ["{}", "The file is not a result of PosLab: “experiment”"],
      [text.replace('"type":"rope"', '"type":"ropr"'), /ropr/],
    ] as const) {
      await give(content);
      const notice = page.getByRole("alert").filter({ hasText: said });
      await notice.waitFor();
      // The field is at the page's end, the notice at its top: who chose the file sees it.
      await expect
        .poll(() => notice.evaluate((element) => element.getBoundingClientRect().top))
        .toSatisfy((top: number) => top >= 0 && top < 900);
      await page.getByText("Open a result file").scrollIntoViewIfNeeded();
    }
    await page.evaluate((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], "dropped.json"));
      document
        .querySelector("h1")!
        .dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, text);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.reload();
    await recorded(page);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
