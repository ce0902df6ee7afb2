// SPDX-License-Identifier: MIT
// What two sinusoidal rows have in common, taken as a bias (Chi et al. 2023, the listing of the appendix).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const [kBase, kDim, kSlowest] = [10000, 128, 8];

export const page: SchemePage = {
  formula: () =>
    String.raw`s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d}} + \frac{H}{8h} \sum_{k=0}^{D/2-1} \cos\bigl((i-j)\,\omega_k\bigr), \qquad \omega_k = b^{-2k/D}`,
  symbols: { base: "b", dim: "D", heads: "H" },
  worked: {
    score: ({ scheme, sizes: { heads } }, { head, query, key }) => {
      const [base, dim] = [numberOf(scheme, "base", kBase), numberOf(scheme, "dim", kDim)];
      const factor = texNumber(heads / (kSlowest * (head + 1)));
      return String.raw`b_{${head + 1}}(${query},${key}) = ${factor} \sum_{k=0}^{${dim / 2 - 1}} \cos\!\left(${query - key} \cdot ${texNumber(base)}^{-2k/${dim}}\right)`;
    },
  },
  users: [
    [
      "NeMo Megatron",
      { en: "k counted from 1, and half of dim taken off every score", zh: "k 从 1 数起，每个分数再减去 dim 的一半" },
    ],
  ],
  sources: [
    [
      "Chi et al. 2023, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis",
      "https://arxiv.org/abs/2212.10356",
    ],
  ],
};
