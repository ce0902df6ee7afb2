// SPDX-License-Identifier: MIT
// RoPE with a decay by distance, another for each pair (Sun et al. 2022, section 3).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const [kTheta, kScaleBase] = [10000, 512];

export const page: SchemePage = {
  formula: () =>
    String.raw`\begin{gathered} s_{ij} = \frac{1}{\sqrt{d}} \sum_k \zeta_k^{(i-j)/S}\; (R_i q_i)_k \cdot (R_j k_j)_k \\ \zeta_k = \frac{2k/d + 0.4}{1.4},\quad \omega_k = \theta^{-2k/d} \end{gathered}`,
  symbols: { theta: "\\theta", scaleBase: "S", headDim: "d" },
  worked: {
    angle: ({ scheme, lab, position: of, sizes: { headDim } }, { pair, position }) => {
      const { inverseFrequencies } = lab.frequencies(of, { headDim, length: position + 1 });
      return String.raw`${position} \cdot \omega_{${pair}} = ${position} \cdot ${texNumber(numberOf(scheme, "theta", kTheta))}^{-${2 * pair}/${headDim}} = ${position} \cdot ${texNumber(inverseFrequencies[pair]!)}`;
    },
    score: ({ scheme, sizes: { headDim } }, { query, key }) =>
      String.raw`s_{${query},${key}} = \frac{1}{\sqrt{${headDim}}} \sum_k \zeta_k^{${query - key}/${texNumber(numberOf(scheme, "scaleBase", kScaleBase))}}\; q_k \cdot (R_{${key - query}}\, k)_k`,
  },
  users: [["RetNet, torchscale", 'scaleBase: 512, layout: "interleaved"']],
  sources: [["Sun et al. 2022, A Length-Extrapolatable Transformer", "https://arxiv.org/abs/2212.10554"]],
};
