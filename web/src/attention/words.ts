// SPDX-License-Identifier: MIT
// This page's own words: `language.of(pageWords)`.

import { chinese } from "../language/chinese-attention.js";
import { english } from "../language/english-attention.js";

export const pageWords = { en: english, zh: chinese };
