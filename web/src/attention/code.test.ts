// SPDX-License-Identifier: MIT
import { loadPosLab } from "poslab";
import { expect, it, vi } from "vitest";
import type { Encoding } from "../engine/poslab.js";
import { rowCode } from "./code.js";
import { Panel } from "./panels.js";
import { RandomSource } from "./sources.js";

// The module starts and trains here: a busy machine takes longer than the usual five seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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
    const printed: unknown[][] = [];
    // The same text, with its import handed in.
    const body = code.replace(/^import .*\n/, "");
    const run = new Function("loadPosLab", "console", `return (async () => {${body}})()`) as (
      load: () => Promise<unknown>,
      log: { log: (...given: unknown[]) => void },
    ) => Promise<void>;
    await run(async () => lab, { log: (...given) => printed.push(given) });
    const { weights, scores, keys } = panel.row(4, 70);
    expect(printed, type).toEqual(
      symbols.slice(0, keys).map((token, j) => [token, scores[keys + j], weights[keys + j]]),
    );
  }
});
