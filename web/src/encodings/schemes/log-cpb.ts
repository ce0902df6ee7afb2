// SPDX-License-Identifier: MIT
// A perceptron of log-spaced differences of rows and of columns (Liu et al. 2022, Swin V2, equation 4).

import { awayOnGrid, gridOf, placesTex } from "../data/grid.js";
import type { SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: (scheme) =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + 16\,\sigma\Bigl(f_h\bigl(c(y_i - y_j, N_y),\ c(x_i - x_j, N_x)\bigr)\Bigr) \\ c(\Delta, N) = \operatorname{sign}(\Delta)\, \frac{\log_2\bigl(1 + 8 \lvert \Delta \rvert / (N - 1)\bigr)}{\log_2 8} \\ f(v) = W_2 \operatorname{ReLU}(W_1 v + b_1), \quad \sigma(x) = \frac{1}{1 + e^{-x}} \\ ${placesTex(scheme)} \end{gathered}`,
  symbols: { gridHeight: "N_y", gridWidth: "N_x", headDim: "d", heads: "H" },
  worked: {
    score: ({ scheme }, { head, query, key }) => {
      const { dy, dx } = awayOnGrid(gridOf(scheme), query, key);
      return String.raw`b_{${head + 1}}(${query},${key}) = 16\,\sigma\bigl(f_{${head + 1}}(c(${dy}, N_y),\ c(${dx}, N_x))\bigr)`;
    },
  },
  users: [
    [
      "Swin V2",
      {
        en: "width: 512; scores are cosines over a trained temperature",
        zh: "width: 512；分数是余弦除以训练得到的温度",
      },
    ],
  ],
  sources: [
    ["Liu et al. 2022, Swin Transformer V2: Scaling Up Capacity and Resolution", "https://arxiv.org/abs/2111.09883"],
  ],
};
