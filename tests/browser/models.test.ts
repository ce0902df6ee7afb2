// SPDX-License-Identifier: MIT
// A checkpoint dropped on a bare page and run in a worker, under a strict Content-Security-Policy: the numbers are those of
// Node, and what a model took is given back when it is disposed of.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openModel } from "../../bindings/js/models.js";
import { llama2cFile } from "../js/models/files.js";
import { projectRoot } from "../js/shared.js";
import { openSite, type Site } from "./site.js";

interface DroppedFile {
  name: string;
  bytes: Uint8Array;
}
interface Said {
  error?: string;
  modelType: string;
  loss: number;
  byPosition: number[];
  progress: number;
  held: { open: number; disposed: number };
}

const folder = mkdtempSync(join(tmpdir(), "poslab-models-page-"));
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
let site: Site;
let page: Page;
const troubles: string[] = [];

beforeAll(async () => {
  await build({
    root: join(projectRoot, "tests/browser/models-page"),
    base: "./",
    configFile: false,
    logLevel: "error",
    worker: { format: "es" },
    resolve: { alias: { "poslab/models": join(projectRoot, "dist/js/models.js") } },
    build: { outDir: folder, emptyOutDir: true },
  });
  site = await openSite(folder, { policy, flags: ["--js-flags=--expose-gc"] });
  page = await site.browser.newPage();
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/favicon|404/.test(message.text())) troubles.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(site.url)) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(site.url);
});
afterAll(async () => {
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function drop(files: readonly DroppedFile[]): Promise<Said> {
  // They come from the server: large ones would take long to cross into the page.
  for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
  const names = files.map(({ name }) => name);
  const transfer = await page.evaluateHandle(async (list) => {
    const dropped = new DataTransfer();
    for (const name of list) dropped.items.add(new File([await (await fetch(name)).blob()], name));
    return dropped;
  }, names);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
  await page.waitForFunction(() => document.querySelector("#said")!.textContent !== "", undefined, { timeout: 90_000 });
  return JSON.parse((await page.textContent("#said"))!) as Said;
}

describe("a model that is dropped on a page", () => {
  it("has the loss by position of Node, from a worker", async () => {
    const model = join(projectRoot, "tests/models/mistral");
    const names = ["config.json", "model.safetensors"];
    const said = await drop(names.map((name) => ({ name, bytes: readFileSync(join(model, name)) })));
    expect(said.error).toBeUndefined();
    expect(said.modelType).toBe("mistral");
    const same = await openModel(model);
    const { vocabulary, trainedLength } = same.info.architecture;
    const ids = Int32Array.from({ length: 2 * trainedLength }, (_, place) => (5 * place * place + place) % vocabulary);
    const { byPosition, loss } = await same.lossByPosition(ids, { window: trainedLength });
    same.dispose();
    expect(said.byPosition).toEqual([...byPosition]);
    expect(said.loss).toBe(loss);
    expect(said.progress).toBeGreaterThan(1);
    expect(troubles).toEqual([]);
  });

  it("says what is wrong with files that are none", async () => {
    const bytes = new TextEncoder().encode("GGUF, or so it says");
    expect((await drop([{ name: "model.gguf", bytes }])).error).toMatch(/^GGUF: the version is \d+; 2 and 3 are read/);
    expect((await drop([{ name: "notes.txt", bytes }])).error).toMatch(/^GGUF/);
  });

  it("gives all of its memory back when it is disposed of, however often one is opened", async () => {
    // 40 MB of weights: far more than a module takes without a model.
    const bytes = llama2cFile({
      dim: 256,
      hidden: 1024,
      layers: 8,
      heads: 4,
      keyValueHeads: 4,
      vocabulary: 1024,
      length: 64,
    });
    expect(bytes.length).toBeGreaterThan(30 * 2 ** 20);
    const held: Said["held"][] = [];
    for (let time = 0; time < 3; time += 1) held.push((await drop([{ name: "big.bin", bytes }])).held);
    for (const { open, disposed } of held) {
      expect(open).toBeGreaterThan(bytes.length);
      expect(open).toBeLessThan(2 * bytes.length);
      // Not even the module itself is left.
      expect(disposed).toBe(0);
    }
    expect(troubles).toEqual([]);
  });
});
