// SPDX-License-Identifier: MIT
import { expect, it } from "vitest";
import { chinese } from "./chinese.js";
import { gap, spaced } from "./spacing.js";

it("puts a space where Chinese and Latin meet, and nowhere else", () => {
  expect(spaced`移除${"ALiBi"}`).toBe("移除 ALiBi");
  expect(spaced`移除${"旋转编码 RoPE"}`).toBe("移除旋转编码 RoPE");
  expect(spaced`都用${"旋转编码 RoPE"}的模型`).toBe("都用旋转编码 RoPE 的模型");
  expect(spaced`${"正弦编码"}不变`).toBe("正弦编码不变");
  expect(spaced`${"T5 偏置"}，${"ALiBi"}`).toBe("T5 偏置，ALiBi");
  expect(gap("Best: ", "ALiBi") + gap("ALiBi", " stays")).toBe("");
});

it("is what the Chinese dictionary does with names", () => {
  for (const say of [chinese.setup.edit, chinese.setup.remove, chinese.atTest.short.other, chinese.lanes.show])
    expect(say("xPos")).toMatch(/\p{Script=Han} xPos$/u);
  for (const say of [chinese.milestones.done, chinese.milestones.failed])
    expect(say("xPos")).toMatch(/^xPos \p{Script=Han}/u);
});
