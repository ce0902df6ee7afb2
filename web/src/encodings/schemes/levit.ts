// SPDX-License-Identifier: MIT
// A number for each distance of rows and of columns, whichever the direction (Graham et al. 2021, section 4.3).

import { awayOnGrid, gridOf, placesTex } from "../data/grid.js";
import type { SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: (scheme) =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + T_{\lvert y_i - y_j \rvert N_x + \lvert x_i - x_j \rvert,\,h} \\ ${placesTex(scheme)} \end{gathered}`,
  symbols: { gridHeight: "N_y", gridWidth: "N_x", headDim: "d", heads: "H" },
  worked: {
    score: ({ scheme, sizes: { length } }, { head, query, key }) => {
      const grid = gridOf(scheme, length);
      const { dy, dx } = awayOnGrid(grid, query, key);
      const [rows, columns] = [Math.abs(dy), Math.abs(dx)];
      const index = String.raw`${rows} \cdot ${grid.columns} + ${columns}`;
      return String.raw`b_{${head + 1}}(${query},${key}) = T_{${index},\,${head + 1}} = T_{${rows * grid.columns + columns},\,${head + 1}}`;
    },
  },
  users: [
    [
      "LeViT",
      {
        en: "gridHeight: 14, gridWidth: 14 in the first stage, for images of 224 × 224",
        zh: "第一阶段 gridHeight: 14, gridWidth: 14（图像为 224 × 224）",
      },
    ],
  ],
  sources: [
    [
      "Graham et al. 2021, LeViT: a Vision Transformer in ConvNet’s Clothing for Faster Inference, §4.3",
      "https://arxiv.org/abs/2104.01136",
    ],
  ],
};
