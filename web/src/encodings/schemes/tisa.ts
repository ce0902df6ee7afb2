// SPDX-License-Identifier: MIT
// A sum of bells over the distance (Wennberg & Henter 2021, equation 6).

import { numberOf, tensorOf, texNumber, type SchemePage } from "./scheme-page.js";

const kKernels = 5;

export const page: SchemePage = {
  formula: () =>
    String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + \sum_{n=1}^{S} a_{hn} \exp\!\left(-\lvert w_{hn} \rvert\,(j-i-c_{hn})^2\right)`,
  symbols: { kernels: "S", heads: "H" },
  worked: {
    score: (subject, { head, query, key }) => {
      const kernels = numberOf(subject.scheme, "kernels", kKernels);
      const of = (name: string) => texNumber(tensorOf(subject, name)[head * kernels]!, 4);
      const more = kernels > 1 ? String.raw` + \dots\ (${kernels})` : "";
      return String.raw`b_{${head + 1}}(${query},${key}) = ${of("amplitudes")}\, e^{-\lvert ${of("sharpnesses")} \rvert (${key - query} - (${of("offsets")}))^2}${more}`;
    },
  },
  sources: [
    [
      "Wennberg & Henter 2021, The Case for Translation-Invariant Self-Attention in Transformer-Based Language Models",
      "https://arxiv.org/abs/2106.01950",
    ],
  ],
};
