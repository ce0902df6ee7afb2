// SPDX-License-Identifier: MIT
// The package as somebody else gets it: packed, installed in an empty folder, used there by Node and by a Vite app that
// runs under a strict Content-Security-Policy in Chromium.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packPackage } from "../../bindings/toolchain/pack.mjs";
import { projectRoot } from "../js/shared.js";
import { openSite } from "./site.js";

const folder = mkdtempSync(join(tmpdir(), "poslab-packed-"));
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const example = /```js\n([^]*?)```/.exec(readFileSync(join(projectRoot, "README.md"), "utf8"))![1]!;

beforeAll(async () => {
  write("package.json", JSON.stringify({ private: true, type: "module" }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", await packPackage()], {
    cwd: folder,
    stdio: "pipe",
  });
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed package in an empty folder", () => {
  it("runs the README's example in Node", () => {
    write("example.mjs", example);
    const printed = execFileSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8" });
    expect(printed).toMatch(/^0\.01 Float32Array\(4\) \[\s*-1\.98411/);
  });

  it("has types that compile by themselves, from every entry point", () => {
    const { exports } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { exports: object };
    const entries = Object.keys(exports).filter((path) => !/\.(wasm|json)$/.test(path));
    write("types.ts", entries.map((path, n) => `export * as entry${n} from "poslab${path.slice(1)}";`).join("\n"));
    const tsc = join(projectRoot, "node_modules/typescript/bin/tsc");
    for (const moduleResolution of ["nodenext", "bundler"]) {
      const module = moduleResolution === "bundler" ? "esnext" : moduleResolution;
      const lib = ["es2022", "dom", "dom.iterable"];
      const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, types: [], target: "es2022", lib };
      const config = { compilerOptions: { ...compilerOptions, module, moduleResolution }, files: ["types.ts"] };
      write("tsconfig.json", JSON.stringify(config));
      const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    }
  });

  it("has its command, which finds its texts", () => {
    const command = join(folder, "node_modules/.bin/poslab");
    const words = ["extrapolate", "--encodings", "alibi", "--steps", "2", "--length", "8", "--test", "8", "--json"];
    const printed = execFileSync(command, words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
    expect((JSON.parse(printed) as { runs: unknown[] }).runs).toHaveLength(1);
  });

  it("works in a Vite app as it is: the example, and an experiment in a worker", async () => {
    const app = `
      import { loadAttention } from "poslab/attention";
      import { runExperiment } from "poslab/run";
      ${example.replace("console.log(", "const shown = [").replace(/\);\s*$/, "];")}
      const { runs } = await runExperiment({
        task: { type: "first" }, model: { dim: 16, heads: 2, feedForward: 32 }, encodings: [{ type: "rope" }],
        training: { length: 8, batch: 2, steps: 3 }, test: { lengths: [8], windows: 2 }, atTest: [], seeds: [1],
      });
      // The relaxed build: the same kernels, sums of products rounded once instead of twice where the machine can.
      const relaxed = await loadPosLab({ variant: "relaxed" });
      const numbers = (count, seed) => Float32Array.from({ length: count }, (_, n) => Math.sin(seed + 1.7 * n));
      let apart = 0;
      for (const position of [{ type: "none" }, { type: "rope" }, { type: "alibi" }, { type: "xpos" }]) {
        const shape = [2, 130, 32];
        const [query, key, value, outputGradient] = [1, 2, 3, 4].map((seed) => ({ data: numbers(2 * 130 * 32, seed), shape }));
        const call = { query, key, value, position, mask: { causal: true } };
        for (const [a, b] of [
          [lab.attention(call).output, relaxed.attention(call).output],
          ...["query", "key", "value"].map((name) => [lab, relaxed].map((one) => one.attentionGradients({ ...call, outputGradient })[name])),
        ]) a.data.forEach((number, n) => (apart = Math.max(apart, Math.abs(number - b.data[n]))));
      }
      const turned = (await loadAttention()).rotate(x, rope, { positions: [1] }).data;
      if (turned.some((number, n) => number !== shown[1][n])) throw new Error("poslab/attention differs");
      document.title = JSON.stringify([shown[0], [...shown[1]], runs.length, runs[0].training.length, apart, relaxed.info.variant]);`;
    mkdirSync(join(folder, "app"));
    write("app/main.js", app);
    const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
    write(
      "app/index.html",
      `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">
       <title>waiting</title><script type="module" src="./main.js"></script>`,
    );
    const vite = join(projectRoot, "node_modules/vite/bin/vite.js");
    execFileSync(process.execPath, [vite, "build", "app", "--base", "./"], { cwd: folder, stdio: "pipe" });

    const site = await openSite(join(folder, "app/dist"));
    try {
      const page = await site.browser.newPage();
      const troubles: string[] = [];
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") troubles.push(message.text());
      });
      await page.goto(site.url);
      await page.waitForFunction(() => document.title !== "waiting", undefined, { timeout: 60_000 }).catch(() => {});
      expect(troubles.filter((text) => !text.includes("favicon") && !text.includes("404"))).toEqual([]);
      const [frequency, lanes, runs, entries, apart, variant] = JSON.parse(await page.title()) as [
        number,
        number[],
        number,
        number,
        number,
        string,
      ];
      expect(variant).toBe("relaxed");
      // 130 products and sums of numbers up to 32, rounded once more or less: far below what a wrong kernel would do.
      expect(apart).toBeLessThan(1e-4);
      expect(frequency).toBeCloseTo(0.01, 12);
      expect(lanes[0]).toBeCloseTo(-1.984111, 6);
      expect([runs, entries > 0]).toEqual([1, true]);
    } finally {
      await site.close();
    }
  });
});
