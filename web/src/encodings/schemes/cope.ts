// SPDX-License-Identifier: MIT
// Positions counted in gates of the content (Golovneva et al. 2024, equations 3 to 6).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kPositions = 64;

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + q_i \cdot e(p_{ij}) \\ p_{ij} = \min\Bigl(\sum_{t=j}^{i} \sigma\bigl(q_i \cdot k_t / \sqrt{d}\bigr),\ P-1\Bigr) \\ e(p) = (1 - f)\, e(\lfloor p \rfloor) + f\, e(\lceil p \rceil), \quad f = p - \lfloor p \rfloor \end{gathered}`,
  symbols: { positions: "P", headDim: "d" },
  worked: {
    score: ({ scheme, sizes: { headDim } }, { query, key }) => {
      if (key > query) return String.raw`s_{${query},${key}} = \frac{q \cdot k}{\sqrt{${headDim}}}`;
      const most = texNumber(numberOf(scheme, "positions", kPositions) - 1);
      return String.raw`s_{${query},${key}} = \frac{q \cdot k}{\sqrt{${headDim}}} + q \cdot e\Bigl(\min\bigl(\textstyle\sum_{t=${key}}^{${query}} \sigma(q \cdot k_t / \sqrt{${headDim}}),\ ${most}\bigr)\Bigr)`;
    },
  },
  sources: [
    [
      "Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important",
      "https://arxiv.org/abs/2405.18719",
    ],
  ],
};
