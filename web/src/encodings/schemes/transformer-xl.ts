// SPDX-License-Identifier: MIT
// Content and distance as separate terms (Dai et al. 2019, section 3.3).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kBase = 10000;
const kClamp = 65536;

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{(q_i + u) \cdot k_j + (q_i + v) \cdot W_r\, r(i-j)}{\sqrt{d}} \\ r(n) = \bigl[\sin(n\,\omega),\ \cos(n\,\omega)\bigr],\quad \omega_k = b^{-2k/d_r} \end{gathered}`,
  symbols: { base: "b", clampLength: "c", headDim: "d" },
  worked: {
    score: ({ scheme, sizes: { headDim } }, { query, key }) => {
      const clamp = numberOf(scheme, "clampLength", kClamp);
      const distance = Math.max(-clamp, Math.min(clamp, query - key));
      return String.raw`s_{${query},${key}} = \frac{(q_{${query}} + u) \cdot k_{${key}} + (q_{${query}} + v) \cdot W_r\, r(${distance})}{\sqrt{${texNumber(headDim)}}}, \quad b = ${texNumber(numberOf(scheme, "base", kBase))}`;
    },
  },
  users: [
    ["Transformer-XL, XLNet", { en: "base: 10000, one u and v a head", zh: "base: 10000，每头一对 u、v" }],
    ["Conformer", { en: "base: 10000, in both directions", zh: "base: 10000，双向" }],
  ],
  sources: [
    [
      "Dai et al. 2019, Transformer-XL: Attentive Language Models beyond a Fixed-Length Context",
      "https://arxiv.org/abs/1901.02860",
    ],
  ],
};
