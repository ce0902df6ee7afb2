// SPDX-License-Identifier: MIT
// No encoding at all (Haviv et al. 2022; Kazemnejad et al. 2023).

import type { SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () => String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}}`,
  users: [["Llama 4, SmolLM3, Command R7B", { en: "every fourth layer, RoPE between", zh: "每四层一层，其间用 RoPE" }]],
  sources: [
    ["Haviv et al. 2022, Transformer Language Models without Positional Encodings", "https://arxiv.org/abs/2203.16634"],
    [
      "Kazemnejad et al. 2023, Impact of Positional Encoding on Length Generalization",
      "https://arxiv.org/abs/2305.19466",
    ],
  ],
};
