// SPDX-License-Identifier: MIT
// Settings of the race that are folded away, and the changes at test time that take two numbers.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, stepsShown, tinyRace, untilFinished, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("sinks and positions in training", () => {
  it("are chosen, go into the link, and the race runs with them", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    await page.getByText("Model", { exact: true }).click();
    await page.getByRole("combobox", { name: "Attention sinks" }).selectOption("zero");
    await page.getByText("Positions in training").click();
    await page.getByRole("combobox", { name: "Rows stand at" }).selectOption("randomized");
    const maximum = page.getByRole("textbox", { name: "Positions below" });
    await maximum.fill("8");
    await page.getByText("A row has 16 different positions: at least 16 is needed.").waitFor();
    await maximum.fill("200");
    await page.waitForFunction(() =>
      ["sinks=zero", "pos=randomized", "posmax=200"].every((part) => location.hash.includes(part)),
    );
    await button(page, "Run it here").click();
    await untilFinished(page);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("are open and as they were when a link sets them, and go back to the default by their button", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60, "&pos=pose&posmax=64&chunks=3") });
    const policy = page.getByRole("combobox", { name: "Rows stand at" });
    await policy.waitFor();
    expect(await policy.inputValue()).toBe("pose");
    expect(await page.getByRole("textbox", { name: "Chunks" }).inputValue()).toBe("3");
    await page.getByRole("button", { name: "Rows stand at" }).click(); // the way back, named after its field
    await page.waitForFunction(() => !location.hash.includes("pos="));
    expect(await policy.inputValue()).toBe("plain");
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("a number that cannot be used", () => {
  it("keeps the race waiting, which says where it is and leads there", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    const bar = page.getByRole("region", { name: "Run" });
    await page.getByText("Training", { exact: true }).click();
    const steps = page.getByRole("textbox", { name: "Steps" });
    await steps.fill("20.5");
    expect(await steps.getAttribute("aria-invalid")).toBe("true");
    await page.getByText("Training", { exact: true }).click(); // folded away with the mistake inside
    expect(await button(page, "Run it here").isDisabled()).toBe(true);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("Space");
    await bar.getByRole("button", { name: "Steps" }).press("Enter");
    expect(await steps.evaluate((box) => box === document.activeElement)).toBe(true);
    expect(await steps.inputValue()).toBe("20.5");
    await steps.fill("20");
    await bar.getByRole("button", { name: "Steps" }).waitFor({ state: "detached" });
    await button(page, "Run it here").click();
    await untilFinished(page);
    await page.waitForFunction(() => new URLSearchParams(location.hash).get("steps") === "20");
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("does not hold up a race that runs with other settings", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(100_000) });
    await button(page, "Run it here").click();
    await page.waitForFunction(() => /step [1-9]/.test(document.body.innerText));
    await page.getByRole("textbox", { name: "Trained length L" }).fill("many");
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("Space");
    await button(page, "Continue").waitFor();
    await page.waitForTimeout(400); // the lanes show the last steps
    const before = await stepsShown(page);
    await button(page, "One step").click();
    await expect.poll(() => stepsShown(page)).toEqual(before.map((step) => step + 1));
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("Space");
    await button(page, "Pause").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("goes with its way back, with the reset of all, and with a value from elsewhere", async () => {
    const { page, context, troubles } = await visit(site);
    const length = page.getByRole("textbox", { name: "Trained length L" });
    const back = page.getByRole("button", { name: "Back to the default: Trained length L" });
    await length.fill("many");
    await page.getByText("Between 4 and 1024. A whole number.").waitFor();
    await back.click();
    expect(await length.inputValue()).toBe("64");
    await length.fill("");
    await button(page, "All defaults").click();
    expect(await length.inputValue()).toBe("64");
    await page.getByText("Training", { exact: true }).click();
    const seed = page.getByRole("textbox", { name: "First seed" });
    await seed.fill("-1");
    await page.getByRole("button", { name: "New seed" }).click();
    expect(await seed.inputValue()).toBe("2");
    expect(await button(page, "Run it here").isEnabled()).toBe(true);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("of an encoding says that 0 is allowed, and the race waits for it as well", async () => {
    const { page, context, troubles } = await visit(site, { hash: tinyRace(60) });
    await button(page, "Change RoPE").click();
    const rotary = page.getByRole("textbox", { name: /^rotary dim/ });
    await rotary.fill("1");
    await rotary.press("Enter");
    await page.getByText("0, or between 2 and 512. A whole number.").waitFor();
    expect(await button(page, "Run it here").isDisabled()).toBe(true);
    await rotary.fill("0");
    await rotary.press("Enter");
    expect(await button(page, "Run it here").isEnabled()).toBe(true);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("far keys at other distances", () => {
  it("take a number and a group, say what a group cannot be, and add a curve", async () => {
    const { page, context, troubles } = await visit(site);
    await page.getByText(/Past 64, /).waitFor();
    await page.getByRole("combobox", { name: "Change", exact: true }).selectOption("grouped");
    await page.getByRole("textbox", { name: "Near keys" }).fill("32");
    const group = page.getByRole("textbox", { name: "Group", exact: true });
    await group.fill("0");
    await page.getByText(/^Group: /).waitFor();
    expect(await group.getAttribute("aria-invalid")).toBe("true");
    expect(await button(page, "Measure").isDisabled()).toBe(true);
    await group.fill("8");
    await button(page, "Measure").click();
    await page.getByText("Measured on the weights of seed 1.").waitFor({ timeout: 120_000 });
    expect(await page.getByRole("img", { name: /RoPE, Self-Extend, window 32, group 8: \d/ }).count()).toBe(1);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
