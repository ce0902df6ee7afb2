// SPDX-License-Identifier: MIT
// Content meets position in both directions (He et al. 2021, equation 4).

import type { SchemeObject } from "../../state/page-link.js";
import { type SchemePage } from "./scheme-page.js";

const termsOf = (scheme: SchemeObject) => ({
  toPosition: scheme["terms"] !== "p2c",
  toContent: scheme["terms"] !== "c2p",
});
const countOf = (scheme: SchemeObject) => 1 + Object.values(termsOf(scheme)).filter(Boolean).length;

export const page: SchemePage = {
  formula: (scheme) => {
    const { toPosition, toContent } = termsOf(scheme);
    const terms = [
      "q_i \\cdot k_j",
      ...(toPosition ? [String.raw`q_i \cdot W_k P_{\delta(i,j)}`] : []),
      ...(toContent ? [String.raw`k_j \cdot W_q P_{\delta(i,j)}`] : []),
    ];
    const bucket = scheme["buckets"] === undefined ? "i-j" : "\\beta(i-j)";
    const span = scheme["buckets"] === undefined ? "m" : "B";
    return String.raw`\begin{gathered} s_{ij} = \frac{${terms.join(" + ")}}{\sqrt{${countOf(scheme)}\,d}} \\ \delta(i,j) = \max\bigl(0, \min(${bucket} + ${span},\ 2${span}-1)\bigr) \end{gathered}`;
  },
  symbols: { maxDistance: "m", buckets: "B", headDim: "d" },
  worked: {
    score: ({ lab, position, scheme, sizes: { headDim } }, { query, key }) => {
      const { toPosition, toContent } = termsOf(scheme);
      const [row] = lab.buckets(position, [key - query]);
      const terms = [
        "q \\cdot k",
        ...(toPosition ? [`q \\cdot W_k P_{${row}}`] : []),
        ...(toContent ? [`k \\cdot W_q P_{${row}}`] : []),
      ];
      return String.raw`s_{${query},${key}} = \frac{${terms.join(" + ")}}{\sqrt{${countOf(scheme)} \cdot ${headDim}}}`;
    },
  },
  users: [
    ["DeBERTa (v1)", 'maxDistance: 512, terms: "both"'],
    ["DeBERTa v2 and v3, mDeBERTa", 'buckets: 256, maxDistance: 512, terms: "both"'],
  ],
  sources: [
    ["He et al. 2021, DeBERTa: Decoding-enhanced BERT with Disentangled Attention", "https://arxiv.org/abs/2006.03654"],
  ],
};
