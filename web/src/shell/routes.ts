// SPDX-License-Identifier: MIT
// The pages of the site, by hash: "#/race?v=1&...". A page is listed here when it exists; the navigation links no other.

import type { Dictionary } from "../language/english.js";

export interface Route {
  page: PageName;
  /** what stands after the "?" */ query: string;
}
export const pageNames = ["race"] as const;
export type PageName = (typeof pageNames)[number];

export const pageTitles: Record<PageName, (words: Dictionary) => string> = { race: (words) => words.shell.race };

/** Unknown pages lead home. */
export function readRoute(hash: string): Route {
  const [path = "", ...rest] = hash.replace(/^#\/?/, "").split("?");
  const page = pageNames.find((name) => name === path) ?? "race";
  return { page, query: rest.join("?") };
}

export const routeHash = ({ page, query }: Route): string => (query === "" ? `#/${page}` : `#/${page}?${query}`);
