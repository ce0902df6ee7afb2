// SPDX-License-Identifier: MIT
import { csvParse } from "d3-dsv";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPosLab, readSafetensors, type ExperimentResult } from "poslab";
import { button, openSite, saved, tinyRace, untilFinished, visit, type Site, type Visit } from "./site.js";

let site: Site;
let visited: Visit;
beforeAll(async () => {
  site = await openSite();
  visited = await visit(site, { hash: tinyRace(60) });
  await button(visited.page, "Run it here").click();
  await untilFinished(visited.page);
});
afterAll(() => site.close());

describe("saved files of a race", () => {
  it("give the numbers of the same experiment in Node, to the bit", async () => {
    const { page } = visited;
    const { bytes } = await saved(page, () => button(page, "JSON").click());
    const here = JSON.parse(bytes.toString("utf8")) as ExperimentResult;
    const lab = await loadPosLab();
    const there = await lab.experiment(here.experiment);
    const numbers = (result: ExperimentResult) => result.runs.map(({ seconds: _, tokensPerSecond: __, ...run }) => run);
    expect(numbers(here)).toEqual(JSON.parse(JSON.stringify(numbers(there))));
    expect(here.build).toEqual(there.build);
  });

  it("are a CSV with version, seeds and link in its header, and every number", async () => {
    const { page } = visited;
    const { name, bytes } = await saved(page, () => button(page, "CSV").click());
    expect(name).toBe("poslab-first-L16-numbers-seed1.csv");
    const lines = bytes.toString("utf8").split("\n");
    expect(lines[0]).toMatch(/^# PosLab \d+\.\d+\.\d+ \(simd\), seeds 1, /);
    expect(lines[1]).toBe(`# ${page.url()}`);
    const rows = csvParse(lines.slice(2).join("\n"));
    expect(rows).toHaveLength(2 * 9);
    for (const row of rows) expect(Number(row.loss_at_end), JSON.stringify(row)).toBeGreaterThan(0);
  });

  it("are a well-formed SVG of each chart", async () => {
    const { page } = visited;
    for (const picture of ["length", "position", "training"]) {
      await page.getByRole("combobox", { name: "Picture of" }).selectOption(picture);
      const { name, bytes } = await saved(page, () => button(page, "SVG").click());
      expect(name).toBe(`poslab-first-L16-${picture}-seed1.svg`);
      const found = await page.evaluate((text) => {
        const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
        return {
          broken: parsed.querySelector("parsererror") !== null,
          curves: parsed.querySelectorAll(".curve").length,
        };
      }, bytes.toString("utf8"));
      expect(found, picture).toEqual({ broken: false, curves: 2 });
    }
  });

  it("are a PNG at twice the size of the picture", async () => {
    const { page } = visited;
    const { bytes } = await saved(page, () => button(page, "PNG").click());
    expect(bytes.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
    expect(bytes.readUInt32BE(16)).toBe(2 * 960);
  });

  it("are weights that the package reads", async () => {
    const { page } = visited;
    const { name, bytes } = await saved(page, () => button(page, "safetensors").click());
    expect(name).toBe("poslab-first-L16-rope-seed1.safetensors");
    const { tensors } = readSafetensors(new Uint8Array(bytes));
    expect(tensors.get("embedding.weight")?.shape).toEqual([16, 16]);
    expect(tensors.has("blocks.1.attention.query.weight")).toBe(true);
  });

  it("and a link that opens the same experiment elsewhere", async () => {
    const address = await visited.page.getByRole("textbox", { name: "Link to this experiment" }).inputValue();
    const other = await visit(site, { hash: new URL(address).hash });
    expect(await other.page.getByRole("textbox", { name: "Trained length L" }).inputValue()).toBe("16");
    expect(await button(other.page, /^Change /).allInnerTexts()).toEqual(["RoPE", "ALiBi"]);
    await other.context.close();
  });
});

describe("copying", () => {
  it("that the browser refuses is said in the page's language, and leaves the link selected", async () => {
    const { page, context, troubles } = await visit(site, {
      locale: "zh-CN",
      before: (page) => page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined })),
    });
    await button(page, "复制链接").click();
    await page.getByText("浏览器不允许在此复制，已为您选中链接。").waitFor();
    const selected = await page.evaluate(() => {
      const { value, selectionStart, selectionEnd } = document.activeElement as HTMLInputElement;
      return value.slice(selectionStart!, selectionEnd!);
    });
    expect(selected).toBe(`${site.url}#/race`);
    expect(troubles).toEqual([]);
    await context.close();
  });
});
