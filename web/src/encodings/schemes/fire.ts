// SPDX-License-Identifier: MIT
// A perceptron of the distance as a share of how far the query can look (Li et al. 2024, equation 4).

import { numberOf, tensorOf, texNumber, type SchemePage } from "./scheme-page.js";

const kThreshold = 512;

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + f_h\!\left( \frac{\ln\bigl(\lvert c \rvert\,\lvert i-j \rvert + 1\bigr)}{\ln\bigl(\lvert c \rvert \max(i,\ \lvert m \rvert\,T) + 1\bigr)} \right) \\ f(x) = W_2 \operatorname{ReLU}(W_1 x + b_1) + b_2 \end{gathered}`,
  symbols: { threshold: "T", headDim: "d", heads: "H" },
  worked: {
    score: (subject, { head, query, key }) => {
      const [c, m] = [tensorOf(subject, "c")[0]!, tensorOf(subject, "lengthFactor")[0]!].map(Math.abs) as [
        number,
        number,
      ];
      const reach = Math.max(query, m * numberOf(subject.scheme, "threshold", kThreshold));
      const share = String.raw`\frac{\ln(${texNumber(c)} \cdot ${Math.abs(query - key)} + 1)}{\ln(${texNumber(c)} \cdot ${texNumber(reach)} + 1)}`;
      return String.raw`b_{${head + 1}}(${query},${key}) = f_{${head + 1}}\!\left(${share}\right)`;
    },
  },
  sources: [
    [
      "Li et al. 2024, Functional Interpolation for Relative Positions Improves Long Context Transformers",
      "https://arxiv.org/abs/2310.04418",
    ],
  ],
};
