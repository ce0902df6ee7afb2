// SPDX-License-Identifier: MIT
/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Encoding } from "../engine/poslab.js";
import { resolve } from "../state/fields.js";
import { encodingLooks, schemeNames, type Theme } from "./looks.js";

type Rgb = [number, number, number];
const linear = (channel: number) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const toLinear = (hex: string) =>
  [1, 3, 5].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255)) as Rgb;

function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = toLinear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

// Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB.
const blindness: Record<string, readonly Rgb[]> = {
  none: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

/** Distance in CIELAB (1976). */
function difference(a: string, b: string, matrix: readonly Rgb[]): number {
  const lab = (hex: string): Rgb => {
    const rgb = toLinear(hex);
    const [r, g, bl] = matrix.map((row) =>
      Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])),
    ) as Rgb;
    const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27) * (t / 116) + 16 / 116);
    const x = f((0.4124 * r + 0.3576 * g + 0.1805 * bl) / 0.95047);
    const y = f(0.2126 * r + 0.7152 * g + 0.0722 * bl);
    const z = f((0.0193 * r + 0.1192 * g + 0.9505 * bl) / 1.08883);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [one, two] = [lab(a), lab(b)];
  return Math.hypot(...one.map((value, index) => value - two[index]!));
}

const styles = readFileSync(new URL("../app.css", import.meta.url), "utf8");
const surface: Record<Theme, string> = {
  light: /--surface: (#\w{6})/.exec(styles)![1]!,
  dark: /data-theme="dark"\] \{[^}]*--surface: (#\w{6})/.exec(styles)![1]!,
};

describe("the colours of encodings", () => {
  const all = schemeNames.map((type) => ({ type }) as Encoding);

  for (const theme of ["light", "dark"] as const) {
    it(`stand out from the ${theme} surface by 3:1, the second of a kind too`, () => {
      for (const { colour } of encodingLooks([...all, ...all], theme))
        expect(contrast(colour, surface[theme]), colour).toBeGreaterThanOrEqual(3);
    });

    it(`of the built-in race keep apart on ${theme} with the common kinds of colour blindness`, () => {
      const looks = encodingLooks(resolve({}).encodings, theme);
      for (const [kind, matrix] of Object.entries(blindness)) {
        for (const [index, one] of looks.entries()) {
          for (const two of looks.slice(index + 1)) {
            // A just noticeable difference is about 2.3; lines two pixels wide need several times that.
            expect(
              difference(one.colour, two.colour, matrix),
              `${kind}: ${one.colour} and ${two.colour}`,
            ).toBeGreaterThan(12);
          }
        }
      }
    });
  }

  it("change lightness and dash, not hue, for a second encoding of the same scheme", () => {
    const [first, second] = encodingLooks([{ type: "rope" }, { type: "rope", theta: 500 }], "light");
    expect(second!.colour).not.toBe(first!.colour);
    expect(second!.dash).not.toEqual(first!.dash);
  });
});
