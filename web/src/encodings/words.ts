// SPDX-License-Identifier: MIT
// This page's own words: `language.of(pageWords)`.

import { chinese } from "../language/chinese-encodings.js";
import { english } from "../language/english-encodings.js";

export const pageWords = { en: english, zh: chinese };
