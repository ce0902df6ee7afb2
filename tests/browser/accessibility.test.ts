// SPDX-License-Identifier: MIT
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, tinyRace, untilFinished, visit, type Site } from "./site.js";
import type { Locator, Page } from "playwright-core";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")}`));
}

describe("axe finds nothing", () => {
  for (const locale of ["en-GB", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 375]) {
        it(`in ${locale}, ${colorScheme}, ${width} pixels wide`, async () => {
          const { page, context } = await visit(site, { locale, colorScheme, viewport: { width, height: 900 } });
          await page.locator(".verdict a").first().waitFor();
          for (const summary of await page.locator("summary").all()) await summary.click();
          await page.locator(".chip").first().click();
          expect(await violations(page)).toEqual([]);
          await context.close();
        });
      }
    }
  }

  it("after a race, with tables in place of the pictures", async () => {
    const { page, context } = await visit(site, { hash: tinyRace(40) });
    await page.getByRole("button", { name: "Run it here" }).click();
    await untilFinished(page);
    const toggles = page.getByRole("button", { name: "Show as table" });
    while ((await toggles.count()) > 0) await toggles.first().click();
    expect(await violations(page)).toEqual([]);
    await context.close();
  });

  it("with the list of shortcuts open", async () => {
    const { page, context } = await visit(site);
    await page.getByRole("button", { name: "Shortcuts" }).click();
    expect(await violations(page)).toEqual([]);
    await context.close();
  });
});

describe("the keyboard", () => {
  it("never leads under the play bar of a telephone", async () => {
    const { page, context } = await visit(site, { viewport: { width: 375, height: 700 } });
    await page.locator(".verdict a").first().waitFor();
    const covered: string[] = [];
    for (let step = 0; step < 70; step += 1) {
      await page.keyboard.press("Tab");
      covered.push(
        ...(await page.evaluate(() => {
          const element = document.activeElement!;
          const bar = document.querySelector("section.bar")!;
          const { top, height } = element.getBoundingClientRect();
          const hidden = !bar.contains(element) && top + Math.min(height, 20) > bar.getBoundingClientRect().top;
          return hidden ? [element.outerHTML.slice(0, 80)] : [];
        })),
      );
    }
    expect(covered).toEqual([]);
    await context.close();
  });
});

describe("reduced motion", () => {
  it("leaves no transition and no animation", async () => {
    const { page, context } = await visit(site, { reducedMotion: "reduce" });
    const moving = await page.evaluate(
      () =>
        [...document.querySelectorAll("*")].filter((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element);
          return transitionDuration !== "0s" || animationName !== "none";
        }).length,
    );
    expect(moving).toBe(0);
    await context.close();
  });
});

describe("the focus", () => {
  it("stays with a button that has no use for now, and goes on to a neighbour when its button goes", async () => {
    const { page, context, troubles } = await visit(site, { hash: `${tinyRace(40)}&colour=red` });
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: on } = document;
        return on?.getAttribute("aria-label") ?? on?.textContent?.trim() ?? "";
      });
    const press = async (locator: Locator) => {
      await locator.focus();
      await page.keyboard.press("Enter");
    };
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    await press(button(page, "Close"));
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    await press(button(page, "Run it here"));
    await untilFinished(page);
    expect(await focused()).toBe("Run it here");
    await press(button(page, "Cancel"));
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    expect(await focused()).toBe("Cancel");
    expect(await button(page, "Cancel").isDisabled()).toBe(true);
    await press(button(page, "Remove RoPE"));
    expect(await focused()).toBe("Remove ALiBi");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("SELECT");
    await press(button(page, "Back to the default: Trained length L"));
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("64");
    await press(button(page, "All defaults"));
    expect(await focused()).toBe("All defaults");
    await press(button(page, "Write"));
    await page.locator(".text .mark").first().waitFor();
    expect(await focused()).toMatch(/^Write/);
    const changes = page.getByRole("button", { name: /^Remove.*RoPE, / });
    await expect.poll(() => changes.count()).toBe(2);
    await press(changes.first());
    await expect.poll(() => changes.count()).toBe(1);
    expect(await changes.evaluate((only) => only === document.activeElement)).toBe(true);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a narrow page", () => {
  it("keeps names and numbers of the runs apart", async () => {
    const { page, context } = await visit(site, {
      hash: "#/race?v=1&task=first&L=16&dim=16&heads=2&ff=32&batch=4&steps=20&windows=2&e=transformer-xl,rope~theta:500000",
      viewport: { width: 320, height: 700 },
    });
    await button(page, "Run it here").click();
    await untilFinished(page);
    const overlaps = await page.evaluate(() =>
      [...document.querySelectorAll("section[aria-labelledby=lanes-heading] li")].map((row) => {
        const text = document.createRange();
        text.selectNodeContents(row.querySelector(".name > span:last-of-type")!);
        const number = row.querySelector(".number")!.getBoundingClientRect();
        return text.getBoundingClientRect().right > number.left;
      }),
    );
    expect(overlaps).toEqual([false, false]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await context.close();
  });
});

describe("the visitor's own colours", () => {
  it("still tell what is chosen and what has no use now", async () => {
    const { page, context } = await visit(site, { forcedColors: "active" });
    const look = (locator: Locator, property: string) =>
      locator.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
    const differ = async (one: Locator, other: Locator, property: string) =>
      expect(await look(one, property)).not.toBe(await look(other, property));
    await page.locator(".mark", { hasText: "Recorded" }).waitFor();
    await differ(button(page, "Cancel"), button(page, "One step"), "color");
    await differ(button(page, "Loss by position"), button(page, "Training loss"), "background-color");
    const link = (name: string) => page.getByRole("navigation").getByRole("link", { name });
    await differ(link("Race"), link("Encodings"), "border-bottom-color");
    await context.close();
  });
});
