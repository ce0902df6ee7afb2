// SPDX-License-Identifier: MIT
// Vectors for the clipped distance, on keys and values (Shaw et al. 2018, equations 3 and 4).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kMaxDistance = 16;

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot \bigl(k_j + a^K_{\operatorname{clip}(j-i)}\bigr)}{\sqrt{d}} \\ o_i = \sum_j w_{ij}\,\bigl(v_j + a^V_{\operatorname{clip}(j-i)}\bigr) \\ \operatorname{clip}(n) = \max(-m, \min(m, n)) \end{gathered}`,
  symbols: { maxDistance: "m", headDim: "d" },
  worked: {
    score: ({ scheme, sizes: { headDim } }, { query, key }) => {
      const most = numberOf(scheme, "maxDistance", kMaxDistance);
      const clipped = Math.max(-most, Math.min(most, key - query));
      return String.raw`s_{${query},${key}} = \frac{q_{${query}} \cdot \left(k_{${key}} + a^K_{${clipped}}\right)}{\sqrt{${texNumber(headDim)}}}`;
    },
  },
  users: [
    [
      {
        en: "Transformer with relative positions (tensor2tensor, OpenNMT)",
        zh: "带相对位置的 Transformer（tensor2tensor、OpenNMT）",
      },
      { en: "maxDistance: 16 or 20, keys and values", zh: "maxDistance: 16 或 20，键和值都用" },
    ],
    ["wav2vec2-BERT", { en: "64 to the left and 8 to the right, keys alone", zh: "左 64、右 8，只用于键" }],
  ],
  sources: [
    ["Shaw et al. 2018, Self-Attention with Relative Position Representations", "https://arxiv.org/abs/1803.02155"],
  ],
};
