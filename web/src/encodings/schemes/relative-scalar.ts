// SPDX-License-Identifier: MIT
// A number for the clipped distance: what is left of Shaw et al. 2018 when vectors shrink to numbers.

import { numberOf, type SchemePage } from "./scheme-page.js";

const kMaxDistance = 128;

export const page: SchemePage = {
  formula: () =>
    String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + T_{\operatorname{clip}(j-i),\,h}, \qquad \operatorname{clip}(n) = \max(-m, \min(m, n))`,
  symbols: { maxDistance: "m", heads: "H" },
  worked: {
    score: ({ scheme }, { head, query, key }) => {
      const most = numberOf(scheme, "maxDistance", kMaxDistance);
      const clipped = Math.max(-most, Math.min(most, key - query));
      return String.raw`b_{${head + 1}}(${query},${key}) = T_{\operatorname{clip}(${key - query}),\,${head + 1}} = T_{${clipped},\,${head + 1}}`;
    },
  },
  sources: [
    ["Shaw et al. 2018, Self-Attention with Relative Position Representations", "https://arxiv.org/abs/1803.02155"],
  ],
};
