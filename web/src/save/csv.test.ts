// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { csvText } from "./csv.js";

describe("CSV", () => {
  it("keeps every digit, quotes what needs it and leaves what is not there empty", () => {
    const text = csvText(
      ["PosLab", "#/a"],
      [
        ["name", "x"],
        ['say "a, b"', 0.1 + 0.2],
        [null, undefined],
        ["", -0],
      ],
    );
    expect(text).toBe('# PosLab\n# #/a\nname,x\n"say ""a, b""",0.30000000000000004\n,\n,0\n');
  });
});
