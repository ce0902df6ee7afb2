// SPDX-License-Identifier: MIT
// Sinusoids of the row and of the column of a token, side by side (He et al. 2022, MAE; Carion et al. 2020, DETR).

import { gridOf, placeOf, placesTex } from "../data/grid.js";
import type { SchemeObject } from "../../state/page-link.js";
import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kBase = 10000;
const interleaved = (scheme: SchemeObject) => scheme["layout"] === "interleaved";
const normalized = (scheme: SchemeObject) => scheme["coordinates"] === "normalized";
const axesOf = (scheme: SchemeObject) => (scheme["firstAxis"] === "y" ? (["y", "x"] as const) : (["x", "y"] as const));

export const page: SchemePage = {
  formula: (scheme) => {
    const [sine, cosine, halfSine, halfCosine] = interleaved(scheme)
      ? ["2k", "2k+1", "d/2+2k", "d/2+2k+1"]
      : ["k", "d/4+k", "d/2+k", "3d/4+k"];
    const [first, second] = axesOf(scheme).map((axis) => (normalized(scheme) ? `\\tilde ${axis}_i` : `${axis}_i`));
    const scaled = normalized(scheme)
      ? String.raw` \\ \tilde y_i = 2\pi\,\frac{y_i + 1}{N_y + 10^{-6}}, \quad \tilde x_i = 2\pi\,\frac{x_i + 1}{N_x + 10^{-6}}`
      : "";
    return String.raw`\begin{gathered} \begin{aligned} p(i)_{${sine}} &= \sin(${first}\,\omega_k) & p(i)_{${cosine}} &= \cos(${first}\,\omega_k) \\ p(i)_{${halfSine}} &= \sin(${second}\,\omega_k) & p(i)_{${halfCosine}} &= \cos(${second}\,\omega_k) \end{aligned} \\ \omega_k = b^{-4k/d}${scaled} \\ ${placesTex(scheme)} \end{gathered}`;
  },
  symbols: { base: "b", gridHeight: "N_y", gridWidth: "N_x", dim: "d", length: "L" },
  worked: {
    row: ({ scheme, sizes: { dim } }, { position, column }) => {
      const cell = `p(${position})_{${column}}`;
      const grid = gridOf(scheme);
      const place = placeOf(grid, position);
      if (!place) return cell;
      const axis = axesOf(scheme)[column < dim / 2 ? 0 : 1];
      const within = column % (dim / 2);
      const sine = interleaved(scheme) ? within % 2 === 0 : within < dim / 4;
      const k = interleaved(scheme) ? Math.floor(within / 2) : within % (dim / 4);
      const cells = axis === "x" ? grid.columns : grid.rows;
      const at = normalized(scheme)
        ? String.raw`2\pi\,\tfrac{${place[axis] + 1}}{${cells} + 10^{-6}}`
        : String(place[axis]);
      const base = texNumber(numberOf(scheme, "base", kBase));
      return String.raw`${cell} = ${sine ? "\\sin" : "\\cos"}(${axis}_{${position}}\,\omega_{${k}}) = ${sine ? "\\sin" : "\\cos"}\!\left(${at} \cdot ${base}^{-${4 * k}/${dim}}\right)`;
    },
  },
  users: [
    ["MAE", 'layout: "concatenated", firstAxis: "x"'],
    ["DETR", 'layout: "interleaved", firstAxis: "y", coordinates: "normalized"'],
  ],
  sources: [
    ["He et al. 2022, Masked Autoencoders Are Scalable Vision Learners", "https://arxiv.org/abs/2111.06377"],
    ["Carion et al. 2020, End-to-End Object Detection with Transformers", "https://arxiv.org/abs/2005.12872"],
  ],
};
