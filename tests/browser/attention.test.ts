// SPDX-License-Identifier: MIT
import axe from "axe-core";
import { csvParse } from "d3-dsv";
import { loadPosLab } from "poslab";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Panel } from "../../web/src/attention/panels.js";
import { RandomSource } from "../../web/src/attention/sources.js";
import { tokenise } from "../../web/src/attention/tokens.js";
import { english } from "../../web/src/language/english-attention.js";
import type { Encoding } from "../../web/src/engine/poslab.js";
import { button, mainThreadTasks, openSite, saved, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const panel = (page: Page, type: string): Locator => page.locator(`[data-encoding="${type}"]`);
const change = (page: Page, type: string): Locator => panel(page, type).locator(".said");
/** Waits until every panel has its picture, or says why not. */
async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelectorAll("[data-encoding]").length > 0 &&
      [...document.querySelectorAll("[data-encoding]")].every((one) => one.querySelector("canvas, .problem")),
    undefined,
    { timeout: 60_000 },
  );
}
async function open(hash: string, options: Parameters<typeof visit>[1] = {}): ReturnType<typeof visit> {
  const visited = await visit(site, { ...options, hash });
  await drawn(visited.page);
  return visited;
}
const symbols = tokenise(english.sample, "words").tokens;
const causal = { causal: true, window: null };

describe("the Attention page", () => {
  it("opens with four encodings drawn, and asks no other origin for anything", async () => {
    const { page, context, troubles } = await open("#/attention");
    expect(await page.locator("[data-encoding] canvas").count()).toBe(4);
    await page.getByRole("img", { name: /^Sinusoidal, head 1\. .* looks most at / }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("reads out the numbers of the package, whatever the pair, the head and the mask", async () => {
    const lab = await loadPosLab();
    const { page, context } = await open("#/attention?v=1&at=70&q=12&k=9&head=2&window=6&seed=5");
    await page.getByRole("cell").first().waitFor();
    const source = new RandomSource(lab, symbols, 5, 4);
    for (const [row, type] of ["sinusoidal", "learned", "rope", "alibi"].entries()) {
      const computed = new Panel(lab, source, { type } as Encoding, { causal: true, window: 6 }).row(12, 70);
      const cells = await page.locator("tbody tr").nth(row).locator("td").allInnerTexts();
      const shown = [cells[0]!, cells[1]!].map((text) => Number(text.replace("−", "-")));
      const at = 2 * computed.keys + 9;
      expect(shown[0], type).toBeCloseTo(computed.scores[at]!, 2);
      expect(shown[1], type).toBeCloseTo(computed.weights[at]!, 3);
    }
    await context.close();
  });

  it("changes under absolute encodings when the text is dragged, and not under relative ones", async () => {
    const { page, context } = await open("#/attention");
    const slider = page.getByRole("slider");
    await slider.focus();
    for (let n = 0; n < 3; n += 1) await page.keyboard.press("ArrowRight");
    await page
      .getByText(/^From position 3 on: Sinusoidal changes by up to 0\.\d+; .*RoPE, ALiBi: no change\.$/)
      .first()
      .waitFor();
    await slider.fill("90000");
    await page
      .getByText(/^From position 90,000 on: .*Learned is not defined there; RoPE, ALiBi: no change/)
      .first()
      .waitFor();
    expect(await change(page, "rope").innerText()).toMatch(/^No change \(rounding: /);
    expect(await change(page, "sinusoidal").innerText()).toMatch(/^Change up to 0\.\d+, mean 0\.\d+$/);
    expect(await panel(page, "learned").innerText()).toContain("ends after 512 rows");
    // The text itself can be dragged, too.
    await button(page, "Back to 0").click();
    const axis = (await page.locator(".axis").boundingBox())!;
    await page.mouse.move(axis.x + 20, axis.y + 20);
    await page.mouse.down();
    await page.mouse.move(axis.x + 80, axis.y + 20, { steps: 3 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.endsWith("at=10"));
    await context.close();
  });

  it("moves a cursor over all matrices with the arrow keys", async () => {
    const { page, context } = await open("#/attention");
    await page.getByRole("img", { name: /^RoPE, head 1/ }).focus();
    for (const key of ["ArrowDown", "End", "ArrowDown", "ArrowLeft"]) await page.keyboard.press(key);
    await page
      .getByText(/^sat → \.: hidden$|^cat → \.: hidden$|^cat → first: hidden$|^sat → first: hidden$/)
      .first()
      .waitFor();
    expect(await page.locator("[data-encoding] .cursor").count()).toBe(4);
    await page.keyboard.press("Home");
    await page.getByText(/ looks at The \(0\)/).waitFor();
    await context.close();
  });

  it("draws arcs, whose query the arrow keys choose", async () => {
    const { page, context, troubles } = await open("#/attention?v=1&as=arcs");
    await page.getByRole("img", { name: /^ALiBi, head 1/ }).focus();
    await page.keyboard.press("End");
    await page
      .getByText(/^\. \(21\) looks at .+ \(\d+\) 0\.\d+; /)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !location.hash.includes("q="));
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("takes Chinese apart into words, and any text into characters", async () => {
    const { page, context } = await open("#/attention");
    const text = page.getByRole("textbox", { name: "Your text" });
    await text.fill("小猫坐在垫子上。");
    await page.getByText(/^[4-7] tokens$/).waitFor();
    await page.getByRole("combobox", { name: "Tokens" }).selectOption("characters");
    await page.getByText("8 tokens", { exact: true }).waitFor();
    await text.fill("");
    await page.getByText("0 tokens", { exact: true }).waitFor();
    expect(await text.inputValue()).toBe("");
    await button(page, "Sample sentence").click();
    await page.getByText(`${english.sample.length} tokens`, { exact: true }).waitFor();
    await context.close();
  });

  it("shows the recorded race's models, each with its own and one under all encodings", async () => {
    const { page, context, troubles } = await open("#/attention?v=1&from=text-moby-dick&at=40");
    await page.getByText("48 tokens", { exact: true }).waitFor();
    expect(await panel(page, "learned").innerText()).toContain("ends after 64 rows");
    await page
      .getByText(/RoPE.*no change\.$/)
      .first()
      .waitFor();
    await page.getByRole("combobox", { name: "Model" }).selectOption({ label: "all with that of RoPE" });
    await panel(page, "learned").getByText("cannot be added to the tokens of another").waitFor();
    await page.getByRole("combobox", { name: "Layer" }).selectOption("1");
    await drawn(page);
    // The pictures of the layer before make room for those of this one.
    await expect.poll(() => page.locator("[data-encoding] canvas").count()).toBe(4);
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("an address of the Attention page", () => {
  it("brings every setting back", async () => {
    const hash =
      "#/attention?v=1&text=to%20be%20or%20not&unit=characters&seed=9&heads=2&head=1&e=rope~theta:500,t5&at=321&causal=0&show=scores&q=3&k=2";
    const { page, context } = await open(hash);
    await page.getByText("12 tokens", { exact: true }).waitFor();
    expect(await page.getByRole("textbox", { name: "Your text" }).inputValue()).toBe("to be or not");
    expect(await page.getByRole("textbox", { name: "Seed" }).inputValue()).toBe("9");
    expect(await page.getByRole("checkbox", { name: /^Causal/ }).isChecked()).toBe(false);
    expect(await button(page, /^Change /).allInnerTexts()).toEqual(["RoPE", "T5"]);
    await page.waitForTimeout(600);
    expect(await page.evaluate(() => location.hash)).toBe(hash);
    await context.close();
  });

  it("says what it drops", async () => {
    const { page, context, troubles } = await open(
      "#/attention?v=1&at=-4&e=rope,<script>&from=nowhere&colour=red&head=99&window=9999",
    );
    for (const key of ["at", "e", "window", "from"])
      await page.getByText(`The value of “${key}” was not usable; the default is used.`).waitFor();
    await page.getByText("“colour” is not known here and was dropped.").waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("as a lesson link hides the settings", async () => {
    const { page, context } = await open("#/attention?v=1&at=5");
    await page.getByText("Make a lesson link").click();
    const parts = page.locator("details", { hasText: "Make a lesson link" }).getByRole("checkbox");
    await parts.first().check(); // the text, first on the page
    const lesson = await page.getByRole("textbox", { name: "Lesson link" }).inputValue();
    await context.close();
    const other = await open(new URL(lesson).hash);
    expect(await other.page.getByRole("textbox", { name: "Your text" }).count()).toBe(0);
    expect(await other.page.getByRole("slider").inputValue()).toBe("5");
    await other.context.close();
  });
});

describe("what is saved of the Attention page", () => {
  it("is a well-formed SVG, a PNG, and every number as CSV", async () => {
    const { page, context } = await open("#/attention?v=1&at=100");
    const rope = panel(page, "rope");
    const svg = await saved(page, () => rope.getByRole("button", { name: "SVG" }).click());
    expect(svg.name).toBe("poslab-attention-rope-head1-L22-seed1-at100.svg");
    const broken = await page.evaluate(
      (text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror") !== null,
      svg.bytes.toString("utf8"),
    );
    expect(broken).toBe(false);
    const png = await saved(page, () => rope.getByRole("button", { name: "PNG" }).click());
    expect(png.bytes.subarray(1, 4).toString()).toBe("PNG");
    const csv = await saved(page, () => rope.getByRole("button", { name: "CSV" }).click());
    const lines = csv.bytes.toString("utf8").split("\n");
    const rows = lines.filter((line) => !line.startsWith("#") && line !== "").slice(1);
    const lab = await loadPosLab();
    const own = new Panel(lab, new RandomSource(lab, symbols, 1, 4), { type: "rope" }, causal);
    const { pictures, cells } = own.result({ offset: 100, heads: [0], show: "weights", side: 512 });
    expect(rows).toHaveLength(cells);
    const last = Object.values(csvParse(`${lines.find((line) => line.startsWith("query"))}\n${rows.at(-1)}`)[0]!);
    expect(last.length).toBeGreaterThan(5);
    const numbers = rows.at(-1)!.split(",").slice(-cells).map(Number);
    numbers.forEach((value, key) => expect(value).toBeCloseTo(pictures[0]![(cells - 1) * cells + key]!, 6));
    await context.close();
  });

  it("is code that prints what the page shows", async () => {
    const lab = await loadPosLab();
    const { page, context } = await open("#/attention?v=1&q=3&k=1&e=rope,forgetting", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    for (const type of ["rope", "forgetting"] as const) {
      await panel(page, type).getByRole("button", { name: "Copy as JavaScript" }).click();
      await panel(page, type).getByText("Copied").waitFor();
      const code = await page.evaluate(() => navigator.clipboard.readText());
      const printed: unknown[][] = [];
      const body = code.replace('import { loadPosLab } from "poslab";', "");
      expect(body).not.toBe(code);
      const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
      const log = (...given: unknown[]) => printed.push(given);
      await (new AsyncFunction("loadPosLab", "console", body)(() => lab, { log }) as Promise<void>);
      const source = new RandomSource(lab, symbols, 1, 4);
      const row = new Panel(lab, source, { type }, causal).row(3, 0);
      expect(printed).toEqual([0, 1, 2, 3].map((key) => [symbols[key], row.scores[key], row.weights[key]]));
    }
    await context.close();
  });
});

describe("2,048 tokens", () => {
  it("are drawn and dragged without a long task of the page's own thread", async () => {
    const { page, context } = await open("#/attention?v=1&unit=characters");
    const { long } = await mainThreadTasks(site, page, async () => {
      await button(page, "A long text").click();
      await page.getByText("2,048 tokens", { exact: true }).waitFor({ timeout: 60_000 });
      await drawn(page);
      await page.getByRole("slider").fill("5000");
      await page
        .getByText(/^From position 5,000 on: .*no change/)
        .first()
        .waitFor({ timeout: 90_000 });
      // Below the diagonal: a query and a key before it.
      const matrix = page.getByRole("img", { name: /^RoPE/ });
      const { width, height } = (await matrix.boundingBox())!;
      await matrix.hover({ position: { x: width / 4, y: height / 2 } });
      await page.getByText(/looks at .* back/).waitFor({ timeout: 60_000 });
    });
    expect(long).toEqual([]);
    await context.close();
  });
});

describe("for everyone", () => {
  for (const locale of ["en-GB", "zh-CN"]) {
    for (const [width, colorScheme] of [
      [1280, "dark"],
      [375, "light"],
    ] as const) {
      it(`axe finds nothing in ${locale}, ${colorScheme}, ${width} pixels wide, and nothing scrolls sideways`, async () => {
        const { page, context } = await open("#/attention?v=1&at=600&q=4&k=2", {
          locale,
          colorScheme,
          viewport: { width, height: 900 },
        });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        const violations = async () => {
          await page.evaluate(axe.source);
          const found = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
        };
        expect(await violations()).toEqual([]);
        const asTable = locale === "zh-CN" ? "显示为表格" : "Show as table";
        await page.getByRole("button", { name: asTable }).first().click();
        expect(await violations()).toEqual([]);
        await context.close();
      });
    }
  }
});
