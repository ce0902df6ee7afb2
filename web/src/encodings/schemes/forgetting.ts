// SPDX-License-Identifier: MIT
// The gates of the tokens in between (Lin et al. 2025, equation 6).

import { type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () =>
    String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + \sum_{t=j+1}^{i} \ln f_t, \qquad f_t = \sigma(w_h \cdot x_t + b_h)`,
  symbols: { headDim: "d", heads: "H" },
  worked: {
    score: ({ sizes: { headDim } }, { query, key }) => {
      const between = key < query ? String.raw` + \sum_{t=${key + 1}}^{${query}} \ln f_t` : "";
      return String.raw`s_{${query},${key}} = \frac{q \cdot k}{\sqrt{${headDim}}}${between}`;
    },
  },
  users: [["x-transformers (DataDependentAlibi)", { en: "gateBias starts at 5", zh: "gateBias 从 5 开始" }]],
  sources: [
    [
      "Lin et al. 2025, Forgetting Transformer: Softmax Attention with a Forget Gate",
      "https://arxiv.org/abs/2503.02130",
    ],
  ],
};
