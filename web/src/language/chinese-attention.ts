// SPDX-License-Identifier: MIT
// “注意力”页面的简体中文文字，随页面载入。

import type { AttentionWords } from "./english-attention.js";

export const chinese: AttentionWords = {
  heading: "注意力",
};
