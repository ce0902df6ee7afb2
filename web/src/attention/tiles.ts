// SPDX-License-Identifier: MIT
// The pictures of several heads as one matrix, side by side with bare cells between them.

export interface Tiles {
  rows: number;
  columns: number;
  data: Float32Array;
  /** what is at a place of it; null between pictures */ at: (row: number, column: number) => Place | null;
  /** the place of a head's cell */ of: (place: Place) => { row: number; column: number };
}
export interface Place {
  /** index among the pictures */ picture: number;
  row: number;
  column: number;
}

export function tile(pictures: readonly Float32Array[], cells: number): Tiles {
  const across = Math.max(1, Math.ceil(Math.sqrt(pictures.length)));
  const down = Math.max(1, Math.ceil(pictures.length / across));
  const gap = pictures.length > 1 ? Math.max(1, Math.round(cells / 24)) : 0;
  const pitch = cells + gap;
  const [rows, columns] = [down * pitch - gap, across * pitch - gap];
  const data = pictures.length === 1 ? pictures[0]! : new Float32Array(rows * columns).fill(NaN);
  const of = ({ picture, row, column }: Place) => ({
    row: Math.floor(picture / across) * pitch + row,
    column: (picture % across) * pitch + column,
  });
  if (pictures.length > 1) {
    pictures.forEach((picture, index) => {
      for (let row = 0; row < cells; row += 1) {
        const to = of({ picture: index, row, column: 0 });
        data.set(picture.subarray(row * cells, (row + 1) * cells), to.row * columns + to.column);
      }
    });
  }
  const at = (row: number, column: number): Place | null => {
    const picture = Math.floor(row / pitch) * across + Math.floor(column / pitch);
    const place = { picture, row: row % pitch, column: column % pitch };
    return place.row < cells && place.column < cells && picture < pictures.length ? place : null;
  };
  return { rows, columns, data, at, of };
}
