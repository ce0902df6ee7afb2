// SPDX-License-Identifier: MIT
// A learned row a position (Gehring et al. 2017; BERT, GPT-2).

import { numberOf, type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () => String.raw`p(i) = W_{i+o}, \qquad W \in \mathbb{R}^{L \times d}`,
  symbols: { offset: "o", rows: "L", length: "L", dim: "d" },
  worked: {
    row: ({ scheme }, { position, column }) =>
      `p(${position})_{${column}} = W_{${position + numberOf(scheme, "offset", 0)},\\,${column}}`,
  },
  users: [
    ["BERT, GPT-2, CLIP, ViT", "offset: 0"],
    ["OPT, BART", "offset: 2"],
    ["RoBERTa, XLM-R", { en: "offset: 2, counting tokens that are not padding", zh: "offset: 2，只数非填充的词元" }],
  ],
  sources: [
    ["Gehring et al. 2017, Convolutional Sequence to Sequence Learning", "https://arxiv.org/abs/1705.03122"],
    ["Devlin et al. 2018, BERT", "https://arxiv.org/abs/1810.04805"],
  ],
};
