// SPDX-License-Identifier: MIT
// Queries and keys turned by their positions (Su et al. 2021, equations 13 to 16).

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kTheta = 10000;

export const page: SchemePage = {
  formula: (scheme) => {
    const lanes = scheme["layout"] === "interleaved" ? "x_{2k},\\ x_{2k+1}" : "x_k,\\ x_{k+r/2}";
    return String.raw`\begin{gathered} s_{ij} = \frac{(R_i q_i) \cdot (R_j k_j)}{\sqrt{d}} = \frac{q_i \cdot R_{j-i}\, k_j}{\sqrt{d}} \\ R_i:\ \begin{pmatrix} \cos i\omega_k & -\sin i\omega_k \\ \sin i\omega_k & \cos i\omega_k \end{pmatrix} \ (${lanes}), \quad \omega_k = \theta^{-2k/r} \end{gathered}`;
  },
  symbols: { theta: "\\theta", rotaryDim: "r", headDim: "d" },
  worked: {
    angle: ({ scheme, lab, position: of, sizes: { headDim } }, { pair, position }) => {
      const { inverseFrequencies } = lab.frequencies(of, { headDim, length: position + 1 });
      const plain = scheme["scaling"] === undefined;
      const rotary = numberOf(scheme, "rotaryDim", headDim) || headDim;
      const frequency = plain
        ? String.raw`${texNumber(numberOf(scheme, "theta", kTheta))}^{-${2 * pair}/${rotary}}`
        : texNumber(inverseFrequencies[pair]!);
      return String.raw`${position} \cdot \omega_{${pair}} = ${position} \cdot ${frequency} = ${position} \cdot ${texNumber(inverseFrequencies[pair]!)}`;
    },
    score: ({ sizes: { headDim } }, { query, key }) =>
      String.raw`s_{${query},${key}} = \frac{q \cdot R_{${key - query}}\, k}{\sqrt{${texNumber(headDim)}}}`,
  },
  users: [
    [
      { en: "Llama 2 (Meta's weights), GPT-J", zh: "Llama 2（Meta 原权重）、GPT-J" },
      'theta: 10000, layout: "interleaved"',
    ],
    ["Llama 2 (Hugging Face), Mistral, Falcon", 'theta: 10000, layout: "half"'],
    [
      "GPT-NeoX, Pythia",
      {
        en: 'theta: 10000, layout: "half", rotaryDim: a quarter of the head',
        zh: 'theta: 10000, layout: "half"，rotaryDim 为每头维数的四分之一',
      },
    ],
    [
      "Llama 3",
      {
        en: 'theta: 500000, layout: "half"; 3.1 and later with scaling llama3',
        zh: 'theta: 500000, layout: "half"；3.1 起用 llama3 缩放',
      },
    ],
    ["Qwen 2.5", 'theta: 1000000, layout: "half"'],
    ["Qwen2-VL, Qwen2.5-VL", 'theta: 1000000, layout: "half", sections: [16, 24, 24]'],
    [
      "Gemma 3",
      {
        en: 'layout: "half", theta: 10000 in local layers and 1000000 (linear, 8) in global ones',
        zh: 'layout: "half"，局部层 theta: 10000，全局层 1000000（linear, 8）',
      },
    ],
  ],
  sources: [
    [
      "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
      "https://arxiv.org/abs/2104.09864",
    ],
  ],
};
