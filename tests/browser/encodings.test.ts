// SPDX-License-Identifier: MIT
import axe from "axe-core";
import { csvParseRows } from "d3-dsv";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPosLab, type Position } from "poslab";
import { openSite, saved, visit, type Site } from "./site.js";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const lab = await loadPosLab();
const types = lab.info.schemes.map(({ type }) => type);
const region = (page: Page, name: string | RegExp) => page.getByRole("region", { name });
const picture = (page: Page, name: RegExp) => page.getByRole("img", { name });

/** A number as the page writes it: "−0.5", "1.2 × 10⁻⁷". */
function readNumber(text: string): number {
  const plain = text.replace("−", "-").replaceAll(",", "");
  const [, mantissa, exponent] = /^(-?[\d.]+)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$/.exec(plain.trim()) ?? [];
  const digits = (exponent ?? "⁰").replace("⁻", "-").replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, (c) => String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)));
  return Number(mantissa) * 10 ** Number(digits);
}

/** CSV has no minus zero. */
const positive = (numbers: Float32Array) => Array.from(numbers, (value) => value + 0);

/** What a picture says of the cell under its cursor. */
const said = (page: Page, title: RegExp) =>
  page
    .locator("figure", { has: picture(page, title) })
    .locator("output")
    .innerText();

describe("the encodings at a glance", () => {
  it("show every scheme, each a link to its page, and nothing goes wrong", async () => {
    const { page, context, troubles } = await visit(site, { hash: "#/encodings" });
    await page.getByRole("heading", { name: "What is a positional encoding?" }).waitFor();
    for (const type of types) await page.locator(`main a[href="#/encodings/${type}"] canvas`).waitFor();
    await page.locator('main a[href="#/encodings/alibi"]').click();
    await page.getByRole("heading", { level: 1, name: "ALiBi" }).waitFor();
    expect(troubles).toEqual([]);
    await context.close();
  });

  it("name what they do not know", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/telepathy" });
    await page.getByText("There is no encoding called “telepathy” here.").waitFor();
    await context.close();
  });
});

describe("the page of each scheme", () => {
  it("opens with its blocks and survives a slider", async () => {
    const { page, context, troubles } = await visit(site);
    for (const type of types) {
      await page.goto("about:blank"); // nothing of the scheme before must be left to be read
      await page.goto(`${site.url}#/encodings/${type}`);
      const { hooks } = lab.info.schemes.find((scheme) => scheme.type === type)!;
      for (const name of [/^Formula/, /^Picture/, /^Properties/, /^Beyond/, /^Use it/])
        await region(page, name).first().waitFor();
      await page.locator("math, p.muted").first().waitFor();
      // Or what the core says of a scheme that needs more than vectors.
      await region(page, /^Picture/)
        .locator("canvas, p")
        .first()
        .waitFor();
      // Any slider but the seed's: the first of the block.
      const slider = region(page, /^Formula/)
        .getByRole("slider")
        .first();
      await slider.focus();
      await page.keyboard.press("ArrowRight");
      expect(await page.locator("main [role=alert]").count(), `${type} ${hooks.join(" ")}`).toBe(0);
    }
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("what is typed", () => {
  it("and cannot be used stays in its box, which says what applies until then", async () => {
    const { page, context, troubles } = await visit(site, { hash: "#/encodings/alibi?p=alibi~slopes:0.5" });
    const slopes = page.getByRole("textbox", { name: /slopes/ });
    await slopes.fill("steep");
    await slopes.press("Enter");
    await page.getByText("Numbers, one a head, or the word standard. Until then 0.5 applies.").waitFor();
    expect(await slopes.inputValue()).toBe("steep");
    const biased = page.getByRole("textbox", { name: /biased heads/ });
    await biased.fill("-1");
    await page.getByText("Until then 0 applies.").waitFor();
    await biased.fill("2");
    await page.getByText("Until then 0 applies.").waitFor({ state: "detached" });
    expect(await biased.inputValue()).toBe("2");
    expect(troubles).toEqual([]);
    await context.close();
  });
});

describe("the number under the cursor", () => {
  it("of a row is the package's, as pointed at and by keys, and so is its formula", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/sinusoidal" });
    const map = picture(page, /^The rows/);
    await map.waitFor();
    const box = (await map.boundingBox())!;
    await page.mouse.move(box.x + (box.width * 7.5) / 32, box.y + (box.height * 21.5) / 128);
    const { data } = lab.table({ type: "sinusoidal" }, { length: 128, dim: 32 });
    const [, value] = /^position 21, dimension 7: (.+)$/.exec(await said(page, /^The rows/))!;
    expect(readNumber(value!)).toBeCloseTo(data[21 * 32 + 7]!, 6);

    await map.focus();
    for (const key of ["ArrowDown", "ArrowLeft", "End"]) await page.keyboard.press(key);
    const [, last] = /^position 22, dimension 31: (.+)$/.exec(await said(page, /^The rows/))!;
    expect(readNumber(last!)).toBeCloseTo(data[22 * 32 + 31]!, 6);
    await page.waitForFunction(() => document.querySelector(".worked math")?.textContent?.includes("30/32"));
    await context.close();
  });

  it("of a bias is the package's, for the head that is chosen", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/alibi?v=1&heads=8" });
    const title = /^What is added to the score, query by key/;
    await picture(page, title).waitFor();
    await page.getByRole("combobox", { name: "Head" }).selectOption({ label: "4" }); // the fourth of eight
    await picture(page, title).focus();
    await page.keyboard.press("ArrowDown");
    const { data } = lab.bias({ type: "alibi" }, { heads: 8, queryLength: 128, keyLength: 128 });
    const [, query, key, value] = /^query (\d+), key (\d+): (.+)$/.exec(await said(page, title))!;
    expect(Number(query)).toBe(13);
    expect(readNumber(value!)).toBe(data[(3 * 128 + Number(query)) * 128 + Number(key)]);
    await context.close();
  });

  it("of a turned pair is the package's", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/rope" });
    await page.getByRole("slider", { name: "position" }).fill("200");
    const dials = picture(page, /^Each pair is a hand/);
    await dials.focus();
    await page.keyboard.press("ArrowRight");
    const x = new Float32Array(32).fill(1, 0, 16);
    const { data } = lab.rotate({ data: x, shape: [1, 1, 32] }, { type: "rope" }, { positions: [200] });
    await page.getByText(/^pair 1 at position 200/).waitFor();
    const text = await page.getByText(/^pair 1 at position 200/).innerText();
    const [, cos, sin] = /cos (.+), sin (.+)$/.exec(text)!;
    expect(readNumber(cos!)).toBeCloseTo(data[1]!, 6);
    expect(readNumber(sin!)).toBeCloseTo(data[17]!, 6);
    await context.close();
  });
});

describe("properties", () => {
  const expected: Record<string, Record<string, string>> = {
    none: { order: "fails", shift: "holds" },
    sinusoidal: { order: "holds", shift: "fails", norm: "holds", map: "holds" },
    learned: { shift: "fails", map: "fails" },
    rope: { shift: "holds", norm: "holds", monotone: "fails" },
    alibi: { order: "holds", shift: "holds", monotone: "holds" },
  };

  it("are green for what holds and red for what does not, with a number", async () => {
    const { page, context } = await visit(site);
    for (const [type, verdicts] of Object.entries(expected)) {
      await page.goto("about:blank"); // nothing of the scheme before must be left to be read
      await page.goto(`${site.url}#/encodings/${type}`);
      for (const [property, verdict] of Object.entries(verdicts)) {
        const item = page.locator(`[data-property=${property}]`);
        await page.locator(`[data-property=${property}]:not([data-verdict=proving])`).waitFor({ timeout: 60_000 });
        expect(await item.getAttribute("data-verdict"), `${type} ${property}`).toBe(verdict);
        expect(await item.innerText()).toMatch(/largest (deviation|change) [\d.]+/);
        const colour = await item.evaluate((element) => getComputedStyle(element).borderLeftColor);
        const wanted = await page.evaluate(
          (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
          verdict === "holds" ? "--holds" : "--fails",
        );
        const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(wanted.slice(at, at + 2), 16));
        expect(colour).toBe(`rgb(${red}, ${green}, ${blue})`);
      }
    }
    await context.close();
  });
});

describe("a link", () => {
  it("carries what is set and who stands beside, and brings it back", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/rope" });
    await page.getByRole("textbox", { name: "theta, value" }).fill("500");
    await page.getByRole("textbox", { name: "trained length, value" }).fill("32");
    await page.getByRole("combobox", { name: "Beside it" }).selectOption("alibi");
    await page.waitForFunction(() => location.hash.includes("with=alibi"));
    const hash = await page.evaluate(() => location.hash);
    expect(hash).toBe("#/encodings/rope?v=1&L=32&p=rope~theta:500&with=alibi");
    await context.close();

    const again = await visit(site, { hash });
    expect(await again.page.getByRole("textbox", { name: "theta, value" }).inputValue()).toBe("500");
    await again.page.getByRole("heading", { level: 1, name: "ALiBi" }).waitFor();
    expect(await again.page.getByRole("heading", { name: "Beyond L = 32" }).count()).toBe(2);
    await again.context.close();
  });

  it("says what it drops, and a lesson link hides what it names", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/t5?v=1&L=huge&hide=symbols,use,save" });
    await page.getByText("The value of “L” was not usable; the default is used.").waitFor();
    await region(page, /^Picture/).waitFor();
    expect(await region(page, /^Use it/).count()).toBe(0);
    expect(await page.getByRole("group", { name: "Symbols" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "CSV" }).count()).toBe(0);
    await page.getByRole("button", { name: "Show everything" }).click();
    await region(page, /^Use it/).waitFor();
    expect(await page.evaluate(() => location.hash)).not.toContain("hide");
    await context.close();
  });

  it("is what the maker of lesson links shows, though the page or its settings have changed", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/alibi" });
    await page.getByText("Make a lesson link").click();
    await page.getByRole("checkbox", { name: "the formula" }).check();
    const link = page.getByRole("textbox", { name: "Lesson link" });
    await expect.poll(() => link.inputValue()).toMatch(/#\/encodings\/alibi\?hide=formula$/);
    await page.getByRole("textbox", { name: "trained length, value" }).fill("32");
    await expect.poll(() => link.inputValue()).toMatch(/alibi\?v=1&L=32&hide=formula$/);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Attention" }).click();
    await expect.poll(() => link.inputValue()).toMatch(/#\/attention$/);
    await context.close();
  });

  it("with what the core refuses says why", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/rope?v=1&headDim=33" });
    await page
      .getByText(/^The core refuses this: .*33/)
      .first()
      .waitFor();
    await context.close();
  });
});

describe("what is saved", () => {
  it("are all numbers of a picture, a well-formed SVG, a PNG, and JavaScript that gives the same", async () => {
    const { page, context } = await visit(site, {
      hash: "#/encodings/kerple",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const group = page.getByRole("group", { name: /^Save: What is added to the score, query by key/ });
    const csv = await saved(page, () => group.getByRole("button", { name: "CSV" }).click());
    expect(csv.name).toBe("poslab-kerple-scores-head1-L64-heads4-headDim32.csv");
    const rows = csvParseRows(csv.bytes.toString("utf8").replace(/^#.*\n/gm, ""));
    const sizes = { length: 64, dim: 32, heads: 4, headDim: 32, seed: 1 };
    const position = { type: "kerple", ...lab.startParameters({ type: "kerple" }, sizes) } as Position;
    const { data } = lab.bias(position, { heads: 4, queryLength: 128, keyLength: 128 });
    expect(rows).toHaveLength(129);
    expect(rows.slice(1).flatMap((row) => row.slice(1).map(Number))).toEqual(positive(data.subarray(0, 128 * 128)));

    const svg = await saved(page, () => group.getByRole("button", { name: "SVG" }).click());
    const problem = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return parsed.querySelector("parsererror")?.textContent ?? parsed.documentElement.tagName;
    }, svg.bytes.toString("utf8"));
    expect(problem).toBe("svg");
    const png = await saved(page, () => group.getByRole("button", { name: "PNG" }).click());
    expect(png.bytes.subarray(1, 4).toString()).toBe("PNG");

    await group.getByRole("button", { name: "Copy as JavaScript" }).click();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const body = code.replace('import { loadPosLab } from "poslab";', "");
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
    const run = new AsyncFunction("loadPosLab", `${body}; return data;`) as unknown as (
      load: typeof loadPosLab,
    ) => Promise<Float32Array>;
    expect(positive(await run(loadPosLab))).toEqual(positive(data));
    await context.close();
  });

  it("are the dials too, as a table, as numbers, as a drawing and as code", async () => {
    const { page, context } = await visit(site, {
      hash: "#/encodings/rope",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const figure = page.locator("figure", { has: page.getByRole("slider", { name: "position" }) });
    const group = figure.getByRole("group", { name: /^Save: / });
    const unit = new Float32Array(32).fill(1, 0, 16);
    const { data } = lab.rotate({ data: unit, shape: [1, 1, 32] }, { type: "rope" }, { positions: [12] });
    const hands = Array.from({ length: 16 }, (_, pair) => [data[pair]!, data[pair + 16]!]);

    const csv = await saved(page, () => group.getByRole("button", { name: "CSV" }).click());
    expect(csv.name).toBe("poslab-rope-hands-at12-L64-heads4-headDim32.csv");
    const rows = csvParseRows(csv.bytes.toString("utf8").replace(/^#.*\n/gm, "")).slice(1);
    expect(rows.map((row) => [Number(row[1]), Number(row[2])])).toEqual(hands);

    const svg = (await saved(page, () => group.getByRole("button", { name: "SVG" }).click())).bytes.toString("utf8");
    const lines = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return parsed.querySelector("parsererror") ? -1 : parsed.querySelectorAll("line").length;
    }, svg);
    expect(lines).toBe(16);

    await group.getByRole("button", { name: "Copy as JavaScript" }).click();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
    const body = code.replace('import { loadPosLab } from "poslab";', "");
    const run = new AsyncFunction("loadPosLab", `${body}; return data;`) as unknown as (
      load: typeof loadPosLab,
    ) => Promise<number[]>;
    expect(await run(loadPosLab)).toEqual(hands.flat());

    await figure.getByRole("button", { name: "Show as table" }).click();
    const cells = await figure.getByRole("row").nth(2).getByRole("cell").allInnerTexts();
    expect(readNumber(cells[0]!)).toBeCloseTo(hands[1]![0]!, 6);
    await context.close();
  });

  it("are curves too", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings/t5" });
    const group = page.getByRole("group", { name: /^Save: What is added to the score, by distance/ });
    const { bytes } = await saved(page, () => group.getByRole("button", { name: "CSV" }).click());
    const rows = csvParseRows(bytes.toString("utf8").replace(/^#.*\n/gm, ""));
    const sizes = { length: 64, dim: 32, heads: 4, headDim: 32, seed: 1 };
    const position = { type: "t5", ...lab.startParameters({ type: "t5" }, sizes) } as Position;
    const { data } = lab.bias(position, { heads: 4, queryLength: 1, keyLength: 129 });
    expect(rows.slice(1).map((row) => Number(row[1]))).toEqual(positive(data.subarray(0, 129)).reverse());
    await context.close();
  });
});

describe("both languages, both themes, any width", () => {
  it("leave axe nothing to find", async () => {
    for (const locale of ["en-GB", "zh-CN"]) {
      for (const colorScheme of ["light", "dark"] as const) {
        for (const hash of ["#/encodings", "#/encodings/rope?v=1&with=shaw", "#/encodings/sinusoidal"]) {
          const { page, context } = await visit(site, {
            hash,
            locale,
            colorScheme,
            viewport: { width: 375, height: 800 },
          });
          await page.locator("main canvas").first().waitFor();
          if (hash !== "#/encodings") await page.locator("math").first().waitFor();
          await page.evaluate(axe.source);
          const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
          expect(found, `${hash} ${locale} ${colorScheme}`).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth), hash).toBeLessThanOrEqual(375);
          await context.close();
        }
      }
    }
  });

  it("opens a term of the glossary", async () => {
    const { page, context } = await visit(site, { hash: "#/encodings", locale: "zh-CN" });
    await page.getByRole("button", { name: "旋转" }).click();
    await page.locator(".entry:popover-open").waitFor();
    await context.close();
  });
});
