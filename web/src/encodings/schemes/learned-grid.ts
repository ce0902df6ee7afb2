// SPDX-License-Identifier: MIT
// A learned row for each place of a grid, resized for a grid of another size (Dosovitskiy et al. 2021, ViT).

import { gridOf, placeOf, placesTex } from "../data/grid.js";
import type { SchemeObject } from "../../state/page-link.js";
import { numberOf, type SchemePage } from "./scheme-page.js";

const resized = (scheme: SchemeObject) => scheme["targetHeight"] !== undefined || scheme["targetWidth"] !== undefined;

export const page: SchemePage = {
  formula: (scheme) => {
    const prefix = numberOf(scheme, "prefixTokens", 0);
    const [before, all] = prefix === 0 ? ["", ""] : [`${prefix} + `, `${prefix} + `];
    const table = String.raw`W \in \mathbb{R}^{(${all}N_y N_x) \times d}`;
    if (resized(scheme))
      return String.raw`\begin{gathered} p(y, x) = \sum_{a,\,b} \beta_a(y)\, \beta_b(x)\, W_{${before}a N_x + b} \\ ${table}, \quad \beta\ \text{bicubic} \end{gathered}`;
    return String.raw`\begin{gathered} p(i) = W_{${before}y_i N_x + x_i}, \quad ${table} \\ ${placesTex(scheme)} \end{gathered}`;
  },
  symbols: { gridHeight: "N_y", gridWidth: "N_x", dim: "d", length: "L" },
  worked: {
    row: ({ scheme, sizes: { length } }, { position, column }) => {
      const cell = `p(${position})_{${column}}`;
      const grid = gridOf(scheme, length);
      const place = placeOf(grid, position);
      if (place && resized(scheme)) return cell;
      if (!place) return `${cell} = W_{${position},\\,${column}}`;
      const before = grid.prefix === 0 ? "" : `${grid.prefix} + `;
      const index = String.raw`${before}${place.y} \cdot ${grid.columns} + ${place.x}`;
      return `${cell} = W_{${index},\\,${column}} = W_{${position},\\,${column}}`;
    },
  },
  users: [
    [
      "ViT, DeiT, DINOv2",
      {
        en: "prefixTokens: 1; gridHeight: 14, gridWidth: 14 for ViT-B/16 at 224 × 224; bicubic for other sizes",
        zh: "prefixTokens: 1；ViT-B/16 在 224 × 224 下 gridHeight: 14, gridWidth: 14；其他尺寸用双三次插值",
      },
    ],
    ["timm", "antialias: true"],
  ],
  sources: [
    [
      "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
      "https://arxiv.org/abs/2010.11929",
    ],
  ],
};
