// SPDX-License-Identifier: MIT
import { describe, expect, it } from "vitest";
import { tile } from "./tiles.js";

describe("tiles", () => {
  it("of one picture are that picture", () => {
    const picture = Float32Array.of(1, 2, 3, 4);
    const tiles = tile([picture], 2);
    expect(tiles).toMatchObject({ rows: 2, columns: 2 });
    expect(tiles.data).toBe(picture);
    expect(tiles.at(1, 0)).toEqual({ picture: 0, row: 1, column: 0 });
  });

  it("have every cell of every picture where they say it is, and bare cells between", () => {
    const pictures = [1, 2, 3].map((n) => Float32Array.of(n, 10 * n, 100 * n, 1000 * n));
    const tiles = tile(pictures, 2);
    expect([tiles.rows, tiles.columns]).toEqual([5, 5]);
    for (const picture of [0, 1, 2]) {
      for (const [row, column] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ] as const) {
        const place = tiles.of({ picture, row, column });
        expect(tiles.at(place.row, place.column)).toEqual({ picture, row, column });
        expect(tiles.data[place.row * tiles.columns + place.column]).toBe(pictures[picture]![2 * row + column]);
      }
    }
    expect(tiles.at(2, 0)).toBeNull();
    expect(tiles.at(4, 4)).toBeNull();
    expect(tiles.data[2 * 5]).toBeNaN();
  });
});
