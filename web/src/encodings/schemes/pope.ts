// SPDX-License-Identifier: MIT
// Lengths say what, angles say where (Gopalakrishnan et al. 2025).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kTheta = 10000;

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{1}{\sqrt{d}} \sum_{c=0}^{d-1} \mu(q_{ic})\,\mu(k_{jc}) \cos\bigl((j-i)\,\omega_c + \delta_{hc}\bigr) \\ \mu(x) = \ln(1 + e^x), \quad \omega_c = \theta^{-c/d}, \quad \delta \in [-2\pi, 0] \end{gathered}`,
  symbols: { theta: "\\theta", headDim: "d", heads: "H" },
  worked: {
    score: ({ scheme, sizes: { headDim } }, { query, key }) =>
      String.raw`s_{${query},${key}} = \frac{1}{\sqrt{${headDim}}} \sum_{c=0}^{${headDim - 1}} \mu(q_c)\,\mu(k_c) \cos\!\left(${key - query} \cdot ${texNumber(numberOf(scheme, "theta", kTheta))}^{-c/${headDim}} + \delta_c\right)`,
  },
  users: [
    [
      "x-transformers (PolarEmbedding)",
      { en: "theta: 10000, phases that start at 0", zh: "theta: 10000，相位从 0 开始" },
    ],
  ],
  sources: [
    [
      "Gopalakrishnan et al. 2025, Decoupling the “What” and “Where” With Polar Coordinate Positional Embeddings",
      "https://arxiv.org/abs/2509.10534",
    ],
  ],
};
