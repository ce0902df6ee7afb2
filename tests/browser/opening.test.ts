// SPDX-License-Identifier: MIT
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { button, openSite, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("the page as it opens", () => {
  it("draws the recorded result from a sub-path, under its policy, and asks no other origin for anything", async () => {
    const { page, context, troubles } = await visit(site);
    await page.getByText("Recorded", { exact: true }).waitFor();
    await page.getByText(/Past 64, /).waitFor();
    expect(await page.locator(".chart canvas").count()).toBe(2);
    await page.waitForTimeout(3000); // the speed is measured in this time
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("takes the recorded result for that of the settings, and follows the task to its recording", async () => {
    const { page, context, troubles } = await visit(site);
    await page.getByText(/Past 64, /).waitFor();
    const differs = page.getByText("Your settings differ from what is drawn.");
    expect(await differs.count()).toBe(0);
    await page.getByRole("combobox", { name: "Task" }).selectOption("lookback");
    await page.getByText(/drops \d+ points within/).waitFor();
    await page.getByText("2 seeds").waitFor();
    expect(await differs.count()).toBe(0);
    await page.getByText("Model", { exact: true }).click();
    await page.getByRole("combobox", { name: "Attention sinks" }).selectOption("zero");
    await differs.waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("carries a policy without unsafe words for scripts and styles", async () => {
    const { page, context } = await visit(site);
    const policy = (await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content"))!;
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/'unsafe-inline'|'unsafe-eval'|https?:|\*/);
    // And the browser enforces it.
    const ran = await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'ran'";
      document.head.append(script);
      return document.title;
    });
    expect(ran).not.toBe("ran");
    await context.close();
  });

  it("shows every picture as a table and names it for screen readers", async () => {
    const { page, context } = await visit(site);
    await page.getByText(/Past 64, /).waitFor();
    const picture = page.getByRole("img", { name: /^Loss by length\. Sinusoidal: / });
    expect(await picture.count()).toBe(1);
    await page.locator(".wide").getByRole("button", { name: "Show as table" }).click();
    const cells = await page.locator(".wide tbody tr").first().locator("th, td").allInnerTexts();
    expect(cells[0]).toBe("Sinusoidal");
    expect(cells).toHaveLength(10);
    await context.close();
  });

  it("reads out single cells of the map by arrow keys", async () => {
    const { page, context } = await visit(site);
    const map = page.getByRole("img", { name: /^Where it breaks/ });
    await map.focus();
    for (const key of ["ArrowDown", "End", "ArrowUp", "Home"]) await page.keyboard.press(key);
    expect(await page.locator("output").innerText()).toMatch(/^Sinusoidal, positions 0–3: \d\.\d\d nats/);
    await context.close();
  });

  it("speaks Chinese to a browser that asks for it, and the language that is chosen from then on", async () => {
    const { page, context } = await visit(site, { locale: "zh-CN" });
    await page.getByRole("heading", { name: "超出训练长度以后会怎样？" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.getByText(/超过 64 之后，/).waitFor();
    await button(page, "English").click();
    await page.reload();
    await page.getByRole("heading", { name: "What happens past the trained length?" }).waitFor();
    await context.close();
  });

  it("keeps the theme that is chosen", async () => {
    const { page, context } = await visit(site, { colorScheme: "dark" });
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.getByRole("combobox", { name: "Theme" }).selectOption("light");
    await page.reload();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    await context.close();
  });

  it("has no link that leads nowhere", async () => {
    const { page, context, troubles } = await visit(site);
    await page.locator(".verdict a").first().waitFor();
    const found = await page.locator("a[href]").evaluateAll((list) => list.map((link) => link.getAttribute("href")!));
    const links = [...new Set(found)];
    for (const room of ["#/race", "#/encodings", "#/attention"]) expect(links).toContain(room);
    for (const link of links) {
      expect(link).toMatch(/^#\/(race|encodings(\/[a-z0-9-]+)?|attention)(\?.*)?$/);
      await page.evaluate((hash) => (location.hash = hash), link);
      const room = links.find((other) => /^#\/[a-z]+$/.test(other) && link.startsWith(other));
      await page.locator(`nav a[href="${room}"][aria-current="page"]`).waitFor();
    }
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("fits into 375 pixels without scrolling sideways", async () => {
    const { page, context } = await visit(site, { viewport: { width: 375, height: 800 } });
    await page.getByText(/Past 64, /).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
    await context.close();
  });
});

describe("a link", () => {
  it("brings its settings, says what it drops, and starts nothing", async () => {
    const { page, context, troubles } = await visit(site, {
      hash: "#/race?v=1&L=32&e=alibi,rope~theta:500&colour=red&dim=huge",
    });
    expect(await page.getByRole("textbox", { name: "Trained length L" }).inputValue()).toBe("32");
    await page.getByText("“colour” is not known here and was dropped.").waitFor();
    await page.getByText("The value of “dim” was not usable; the default is used.").waitFor();
    expect(await button(page, /^Change /).allInnerTexts()).toEqual(["ALiBi", "RoPE"]);
    await page.waitForTimeout(1000);
    expect(await page.getByText(/step \d/).count()).toBe(0);
    expect(await button(page, "Run it here").isEnabled()).toBe(true);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("follows the settings and opens the same ones again", async () => {
    const { page, context } = await visit(site);
    await page.getByRole("combobox", { name: "Task" }).selectOption("lookback");
    await page.getByRole("textbox", { name: "Places back" }).fill("7");
    await page.waitForFunction(() => location.hash.includes("distance=7"));
    const hash = await page.evaluate(() => location.hash);
    expect(hash).toBe("#/race?v=1&task=lookback&distance=7");
    await context.close();
    const again = await visit(site, { hash });
    expect(await again.page.getByRole("textbox", { name: "Places back" }).inputValue()).toBe("7");
    await again.context.close();
  });

  it("says why a choice cannot work, and does not start it", async () => {
    const { page, context } = await visit(site, { hash: "#/race?v=1&dim=66" });
    await page.getByText("The width 66 must be a multiple of the 4 heads.").waitFor();
    expect(await button(page, "Run it here").isDisabled()).toBe(true);
    await context.close();
  });
});
