// SPDX-License-Identifier: MIT
// A learned row for the row and one for the column of a token, added up or side by side (Ho et al. 2019; Reformer, DETR).

import { gridOf, placeOf, placesTex } from "../data/grid.js";
import type { SchemeObject } from "../../state/page-link.js";
import type { SchemePage } from "./scheme-page.js";

const sideBySide = (scheme: SchemeObject) => scheme["combine"] === "concatenate";
const columnFirst = (scheme: SchemeObject) => scheme["firstAxis"] === "x";

export const page: SchemePage = {
  formula: (scheme) => {
    const parts = ["Y_{y_i}", "X_{x_i}"];
    if (columnFirst(scheme)) parts.reverse();
    const row = sideBySide(scheme) ? String.raw`\bigl[\,${parts.join("\\,;\\ ")}\,\bigr]` : "Y_{y_i} + X_{x_i}";
    const width = sideBySide(scheme) ? "d/2" : "d";
    return String.raw`\begin{gathered} p(i) = ${row} \\ Y \in \mathbb{R}^{N_y \times ${width}}, \quad X \in \mathbb{R}^{N_x \times ${width}} \\ ${placesTex(scheme)} \end{gathered}`;
  },
  symbols: { gridHeight: "N_y", gridWidth: "N_x", dim: "d", length: "L" },
  worked: {
    row: ({ scheme, sizes: { dim, length } }, { position, column }) => {
      const cell = `p(${position})_{${column}}`;
      const place = placeOf(gridOf(scheme, length), position);
      if (!place) return cell;
      const [row, at] = [place.y, place.x];
      if (!sideBySide(scheme)) return `${cell} = Y_{${row},\\,${column}} + X_{${at},\\,${column}}`;
      const ofColumn = column < dim / 2 === columnFirst(scheme);
      return `${cell} = ${ofColumn ? `X_{${at}` : `Y_{${row}`},\\,${column % (dim / 2)}}`;
    },
  },
  users: [
    [
      "DETR",
      {
        en: 'combine: "concatenate", firstAxis: "x", where it is learned',
        zh: '可学习时 combine: "concatenate", firstAxis: "x"',
      },
    ],
    ["Reformer", 'combine: "concatenate"'],
  ],
  sources: [
    ["Ho et al. 2019, Axial Attention in Multidimensional Transformers", "https://arxiv.org/abs/1912.12180"],
    ["Kitaev et al. 2020, Reformer: The Efficient Transformer", "https://arxiv.org/abs/2001.04451"],
    ["Carion et al. 2020, End-to-End Object Detection with Transformers", "https://arxiv.org/abs/2005.12872"],
  ],
};
