// SPDX-License-Identifier: MIT
// Pairs of lanes turned by the row or by the column of a token (Su et al. 2021 in two dimensions).

import { awayOnGrid, gridOf, placeOf, placesTex } from "../data/grid.js";
import type { SchemeObject } from "../../state/page-link.js";
import { numberOf, texNumber, type SchemePage } from "./scheme-page.js";

const kTheta = 10000;
const alternating = (scheme: SchemeObject) => scheme["order"] === "alternating";
const split = (scheme: SchemeObject) => scheme["frequencies"] === "split";
const normalized = (scheme: SchemeObject) => scheme["coordinates"] === "normalized";
const axesOf = (scheme: SchemeObject) => (scheme["firstAxis"] === "x" ? (["x", "y"] as const) : (["y", "x"] as const));

export const page: SchemePage = {
  formula: (scheme) => {
    const lanes = scheme["layout"] === "interleaved" ? "v_{2k},\\ v_{2k+1}" : "v_k,\\ v_{k+r/2}";
    const [first, second] = axesOf(scheme).map((axis) =>
      normalized(scheme) ? String.raw`2\pi\left(\tfrac{2${axis}_i+1}{N_${axis}} - 1\right)` : `${axis}_i\\,`,
    );
    const [one, other] = alternating(scheme) ? ["2m", "2m+1"] : ["m", "m+r/4"];
    const later = split(scheme) ? "-(4m+2)/r" : "-4m/r";
    return String.raw`\begin{gathered} s_{ij} = \frac{(R_i q_i) \cdot (R_j k_j)}{\sqrt{d}} \\ R_i:\ \begin{pmatrix} \cos \varphi_k & -\sin \varphi_k \\ \sin \varphi_k & \cos \varphi_k \end{pmatrix} \ (${lanes}) \\ \varphi_{${one}} = ${first} \theta^{-4m/r}, \quad \varphi_{${other}} = ${second} \theta^{${later}} \\ ${placesTex(scheme)} \end{gathered}`;
  },
  symbols: { theta: "\\theta", rotaryDim: "r", gridHeight: "N_y", gridWidth: "N_x", headDim: "d" },
  worked: {
    angle: ({ scheme, sizes: { headDim } }, { pair, position }) => {
      const grid = gridOf(scheme);
      const place = placeOf(grid, position);
      if (!place) return String.raw`\varphi_{${pair}} = 0`;
      const rotary = numberOf(scheme, "rotaryDim", headDim) || headDim;
      const among = rotary / 4;
      const second = alternating(scheme) ? pair % 2 === 1 : pair >= among;
      const axis = axesOf(scheme)[second ? 1 : 0];
      const m = alternating(scheme) ? Math.floor(pair / 2) : pair % among;
      const step = 4 * m + (second && split(scheme) ? 2 : 0);
      const cells = axis === "x" ? grid.columns : grid.rows;
      const turned = normalized(scheme)
        ? String.raw`2\pi\left(\tfrac{2 \cdot ${place[axis]} + 1}{${cells}} - 1\right)`
        : String.raw`${axis}_{${position}}\,\theta^{-${step}/${rotary}} = ${place[axis]}`;
      return String.raw`\varphi_{${pair}} = ${turned} \cdot ${texNumber(numberOf(scheme, "theta", kTheta))}^{-${step}/${rotary}}`;
    },
    score: ({ scheme, sizes: { headDim } }, { query, key }) => {
      const { dy, dx } = awayOnGrid(gridOf(scheme), key, query);
      return String.raw`s_{${query},${key}} = \frac{q \cdot R_{(${dy},\,${dx})}\, k}{\sqrt{${headDim}}}`;
    },
  },
  users: [
    ["Qwen2-VL, Qwen2.5-VL", { en: 'layout: "half", in the vision tower', zh: '视觉塔中 layout: "half"' }],
    ["EVA-02", 'layout: "interleaved"'],
    ["Pixtral", 'frequencies: "split"'],
    ["HunyuanImage 3", 'order: "alternating", frequencies: "split"'],
    [
      "Llama 4, torchtune",
      {
        en: 'firstAxis: "x", in the vision tower; rows and columns counted from 1',
        zh: '视觉塔中 firstAxis: "x"，行与列从 1 数起',
      },
    ],
    ["DINOv3", 'theta: 100, coordinates: "normalized"'],
  ],
  sources: [
    [
      "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
      "https://arxiv.org/abs/2104.09864",
    ],
    ["Fang et al. 2023, EVA-02: A Visual Representation for Neon Genesis", "https://arxiv.org/abs/2303.11331"],
    ["Heo et al. 2024, Rotary Position Embedding for Vision Transformer", "https://arxiv.org/abs/2403.13298"],
  ],
};
