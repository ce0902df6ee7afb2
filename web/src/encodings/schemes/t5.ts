// SPDX-License-Identifier: MIT
// A number for each bucket of distances (Raffel et al. 2020, section 2.1).

import type { SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + T_{\beta(i-j),\,h} \\ \beta(n) = \begin{cases} n & n < B/2 \\ \min\!\left(B-1,\ \frac{B}{2} + \left\lfloor \frac{B}{2} \cdot \frac{\ln (2n/B)}{\ln (2m/B)} \right\rfloor\right) & n \ge B/2 \end{cases} \end{gathered}`,
  symbols: { buckets: "B", maxDistance: "m", heads: "H" },
  worked: {
    score: ({ lab, position }, { head, query, key }) => {
      const [bucket] = lab.buckets(position, [key - query]);
      return String.raw`b_{${head + 1}}(${query},${key}) = T_{\beta(${query - key}),\,${head + 1}} = T_{${bucket},\,${head + 1}}`;
    },
  },
  users: [
    [
      "T5, mT5, FLAN-T5",
      {
        en: "buckets: 32, maxDistance: 128; scores are not divided by √d",
        zh: "buckets: 32, maxDistance: 128；分数不除以 √d",
      },
    ],
    ["UMT5", { en: "buckets: 32, maxDistance: 128, a table a layer", zh: "buckets: 32, maxDistance: 128，每层一张表" }],
  ],
  sources: [
    [
      "Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
      "https://arxiv.org/abs/1910.10683",
    ],
  ],
};
