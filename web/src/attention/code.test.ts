// SPDX-License-Identifier: MIT
import { loadPosLab } from "poslab";
import { expect, it, vi } from "vitest";
import type { Encoding, PosLab } from "../engine/poslab.js";
import { distanceCode, rowCode } from "./code.js";
import { Panel } from "./panels.js";
import { RandomSource } from "./sources.js";

// The module starts and trains here: a busy machine takes longer than the usual five seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Runs the text, with its import handed in, and gives what it prints. */
async function printedBy(lab: PosLab, code: string): Promise<unknown[][]> {
  const printed: unknown[][] = [];
  const body = code.replace(/^import .*\n/, "");
  const run = new Function("loadPosLab", "console", `return (async () => {${body}})()`) as (
    load: () => Promise<unknown>,
    log: { log: (...given: unknown[]) => void },
  ) => Promise<void>;
  await run(async () => lab, { log: (...given) => printed.push(given) });
  return printed;
}

it("the copied code prints the numbers of the page, for every kind of scheme", async () => {
  const lab = await loadPosLab();
  const symbols = [..."abcabd"];
  for (const { type } of lab.info.schemes) {
    const panel = new Panel(lab, new RandomSource(lab, symbols, 2, 2), { type } as Encoding, {
      causal: true,
      window: 4,
    });
    const code = rowCode({ comment: `of ${type},\nin head 2`, call: panel.call(4, 70), head: 1, keyNames: symbols });
    expect(code.split("\n")[0]).toBe('import { loadPosLab } from "poslab";');
    const printed = await printedBy(lab, code);
    const { weights, scores, keys } = panel.row(4, 70);
    expect(printed, type).toEqual(
      symbols.slice(0, keys).map((token, j) => [token, scores[keys + j], weights[keys + j]]),
    );
  }
});

it("the copied code of the chart prints the mean weights by distance, for every kind of scheme", async () => {
  const lab = await loadPosLab();
  const symbols = [..."abcabdacda"];
  for (const sight of [
    { causal: true, window: 4 },
    { causal: true, window: null },
    { causal: false, window: null },
  ]) {
    const source = new RandomSource(lab, symbols, 2, 2);
    const panels = lab.info.schemes.map(({ type }) => new Panel(lab, source, { type } as Encoding, sight));
    const items = panels.map((panel) => ({ name: panel.encoding.type, call: panel.call(null, 70) }));
    for (const heads of [[0, 1], [1]]) {
      const printed = await printedBy(lab, distanceCode({ comment: "of all", items, heads }));
      expect(printed.map(([name]) => name)).toEqual(items.map(({ name }) => name));
      panels.forEach((panel, index) => {
        const { byDistance } = panel.result({ offset: 70, heads, show: "weights", side: 100 });
        expect(printed[index]!.slice(1), `${panel.encoding.type}`).toEqual([...byDistance.mean]);
      });
    }
  }
});
