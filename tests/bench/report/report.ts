// SPDX-License-Identifier: MIT
// What the driver takes from a run: Markdown, bars and JSON.

import { barsOf } from "./bars.js";
import { markdownOf } from "./markdown.js";
import type { Results } from "./results.js";
import { summaryOf } from "./summary.js";

export { barsOf, markdownOf };

export function jsonOf(results: Results): string {
  return `${JSON.stringify({ summary: summaryOf(results), ...results }, null, 2)}\n`;
}
