// SPDX-License-Identifier: MIT
// A trained kernel of the distance (Chi et al. 2022, equations 5 and 6).

import { tensorOf, texNumber, type SchemePage } from "./scheme-page.js";

export const page: SchemePage = {
  formula: (scheme) =>
    scheme["kind"] === "power"
      ? String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} - r_1\,\lvert i-j \rvert^{r_2}`
      : String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} - r_1 \ln\bigl(1 + r_2\,\lvert i-j \rvert\bigr)`,
  symbols: { heads: "H" },
  worked: {
    score: (subject, { head, query, key }) => {
      const { scheme } = subject;
      const [r1, r2] = [texNumber(tensorOf(subject, "r1")[head]!), texNumber(tensorOf(subject, "r2")[head]!)];
      const distance = Math.abs(query - key);
      const kernel = scheme["kind"] === "power" ? `${distance}^{${r2}}` : `\\ln(1 + ${r2} \\cdot ${distance})`;
      return `b_{${head + 1}}(${query},${key}) = -${r1} \\cdot ${kernel}`;
    },
  },
  sources: [
    [
      "Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
      "https://arxiv.org/abs/2205.09921",
    ],
  ],
};
