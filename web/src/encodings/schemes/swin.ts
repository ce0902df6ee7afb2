// SPDX-License-Identifier: MIT
// A number for each difference of rows and of columns in a window (Liu et al. 2021, equation 4).

import { awayOnGrid, gridOf, placesTex } from "../data/grid.js";
import type { SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: (scheme) =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + T_{\rho(y_i - y_j,\ x_i - x_j),\,h} \\ \rho(\Delta y, \Delta x) = (\Delta y + N_y - 1)(2N_x - 1) + \Delta x + N_x - 1 \\ ${placesTex(scheme)} \end{gathered}`,
  symbols: { gridHeight: "N_y", gridWidth: "N_x", headDim: "d", heads: "H" },
  worked: {
    score: ({ scheme, sizes: { length } }, { head, query, key }) => {
      const grid = gridOf(scheme, length);
      const { dy, dx } = awayOnGrid(grid, query, key);
      const row = (dy + grid.rows - 1) * (2 * grid.columns - 1) + dx + grid.columns - 1;
      return String.raw`b_{${head + 1}}(${query},${key}) = T_{\rho(${dy},\,${dx}),\,${head + 1}} = T_{${row},\,${head + 1}}`;
    },
  },
  users: [["Swin", "gridHeight: 7, gridWidth: 7"]],
  sources: [
    [
      "Liu et al. 2021, Swin Transformer: Hierarchical Vision Transformer using Shifted Windows",
      "https://arxiv.org/abs/2103.14030",
    ],
  ],
};
