// SPDX-License-Identifier: MIT
// Sinusoidal rows (Vaswani et al. 2017, section 3.5), in the orders and with the denominators that are in use.

import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";
import type { SchemeObject } from "../../state/page-link.js";

const kBase = 10000;
const shifted = (scheme: SchemeObject) => scheme["denominator"] === "half-dim-minus-one";
const blocks = (scheme: SchemeObject) => scheme["layout"] === "concatenated";

export const page: SchemePage = {
  formula: (scheme) => {
    const [sine, cosine] = blocks(scheme) ? ["k", "d/2+k"] : ["2k", "2k+1"];
    const exponent = shifted(scheme) ? "k/(d/2-1)" : "2k/d";
    return String.raw`\begin{aligned} p(i)_{${sine}} &= \sin(i\,\omega_k) \\ p(i)_{${cosine}} &= \cos(i\,\omega_k) \end{aligned} \qquad \omega_k = b^{-${exponent}}`;
  },
  symbols: { base: "b", dim: "d", length: "L" },
  worked: {
    row: ({ scheme, sizes: { dim } }, { position, column }) => {
      const half = Math.ceil(dim / 2);
      const sine = blocks(scheme) ? column < half : column % 2 === 0;
      const pair = blocks(scheme) ? column % half : Math.floor(column / 2);
      const exponent = shifted(scheme) ? `${pair}/${half - 1}` : `${2 * pair}/${dim}`;
      const base = texNumber(numberOf(scheme, "base", kBase));
      const wave = sine ? "\\sin" : "\\cos";
      return String.raw`p(${position})_{${column}} = ${wave}\!\left(${position} \cdot ${base}^{-${exponent}}\right)`;
    },
  },
  users: [
    ["Transformer (2017)", 'layout: "interleaved"'],
    ["Transformer-XL, XLNet, Marian", 'layout: "concatenated"'],
    ["Whisper, M2M100, fairseq, tensor2tensor", 'layout: "concatenated", denominator: "half-dim-minus-one"'],
  ],
  sources: [["Vaswani et al. 2017, Attention Is All You Need, §3.5", "https://arxiv.org/abs/1706.03762"]],
};
