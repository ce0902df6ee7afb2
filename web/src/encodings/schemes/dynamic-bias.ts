// SPDX-License-Identifier: MIT
// A small perceptron of the signed distance (Wang et al. 2022, section 3.2, in one dimension).

import { type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: (scheme) => {
    const seen =
      scheme["distance"] === "log" ? String.raw`\operatorname{sgn}(i-j)\ln(1 + \lvert i-j \rvert)` : String.raw`i-j`;
    return String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + f_h\bigl(${seen}\bigr), \qquad f = \text{linear} \circ (\operatorname{SiLU} \circ \text{linear})^n`;
  },
  symbols: { depth: "n", heads: "H" },
  worked: {
    score: ({ scheme }, { head, query, key }) => {
      const away = query - key;
      const seen =
        scheme["distance"] === "log" ? String.raw`${away < 0 ? "-" : ""}\ln(1 + ${Math.abs(away)})` : String(away);
      return `b_{${head + 1}}(${query},${key}) = f_{${head + 1}}(${seen})`;
    },
  },
  users: [
    ["CrossFormer", { en: "in two dimensions, within a window of an image", zh: "二维，限于图像的一个窗口内" }],
    ["x-transformers (DynamicPositionBias)", 'distance: "linear" or "log"'],
  ],
  sources: [
    [
      "Wang et al. 2022, CrossFormer: A Versatile Vision Transformer Hinging on Cross-scale Attention, §3.2",
      "https://arxiv.org/abs/2108.00154",
    ],
  ],
};
