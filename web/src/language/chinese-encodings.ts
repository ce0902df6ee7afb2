// SPDX-License-Identifier: MIT
// “位置编码”页面的简体中文文字，随页面载入。

import type { EncodingsWords } from "./english-encodings.js";

export const chinese: EncodingsWords = {
  heading: "位置编码",
};
