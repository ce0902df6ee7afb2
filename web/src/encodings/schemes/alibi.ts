// SPDX-License-Identifier: MIT
// A penalty in proportion to the distance (Press et al. 2022, section 3).

import { texNumber, type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: () =>
    String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} - m_h\,\lvert i-j \rvert, \qquad m_h = 2^{-8h/H}\ (H = 2^n)`,
  symbols: { slopes: "m_h", heads: "H" },
  worked: {
    score: ({ lab, position, sizes: { heads } }, { head, query, key }) =>
      String.raw`b_{${head + 1}}(${query},${key}) = -m_{${head + 1}}\,\lvert ${query}-${key} \rvert = -${texNumber(lab.slopes(position, { heads })[head]!)} \cdot ${Math.abs(query - key)}`,
  },
  users: [
    [
      { en: "BLOOM (112 heads), MPT, Falcon-RW, BTLM", zh: "BLOOM（112 个头）、MPT、Falcon-RW、BTLM" },
      'slopes: "standard"',
    ],
    [{ en: "Baichuan-13B (40 heads)", zh: "Baichuan-13B（40 个头）" }, 'slopes: "standard"'],
    ["Jina embeddings v2", { en: 'slopes: "standard", in both directions', zh: 'slopes: "standard"，双向' }],
  ],
  sources: [
    [
      "Press et al. 2022, Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
      "https://arxiv.org/abs/2108.12409",
    ],
  ],
};
