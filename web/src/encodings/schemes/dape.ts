// SPDX-License-Identifier: MIT
// A static bias that a perceptron adapts to the content (Zheng et al. 2024, equation 3).

import { type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_h = c_h + b_h + f_h\bigl([c_1, \dots, c_H,\ b_1, \dots, b_H]\bigr), \qquad c_h = \frac{q_i \cdot k_j}{\sqrt{d}} \\ f(x) = W_2 \operatorname{LeakyReLU}(W_1 x + b) + b' \end{gathered}`,
  symbols: { base: "b_h", heads: "H", headDim: "d" },
  worked: {
    score: ({ sizes: { headDim } }, { head, query, key }) => {
      const at = `(${query},${key})`;
      return String.raw`s_{${head + 1}}${at} = \frac{q \cdot k}{\sqrt{${headDim}}} + b_{${head + 1}}${at} + f_{${head + 1}}`;
    },
  },
  sources: [
    [
      "Zheng et al. 2024, DAPE: Data-Adaptive Positional Encoding for Length Extrapolation",
      "https://arxiv.org/abs/2405.14722",
    ],
  ],
};
