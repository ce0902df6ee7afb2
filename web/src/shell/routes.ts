// SPDX-License-Identifier: MIT
// The pages of the site, by hash: "#/race?v=1&...", "#/encodings/rope?...". A page is listed here when it exists; the
// navigation links no other. "hide=setup,save" in any address is a lesson link: it hides those parts of the page.

import type { Dictionary } from "../language/english.js";

export interface Route {
  page: PageName;
  /** what stands below the page: "rope" in "#/encodings/rope" */ path: string;
  /** what stands after the "?", without "hide" */ query: string;
  /** parts of the page that the link hides */ hidden: readonly string[];
}
export const pageNames = ["race", "encodings", "attention"] as const;
export type PageName = (typeof pageNames)[number];

export const pageTitles: Record<PageName, (words: Dictionary) => string> = {
  race: (words) => words.shell.race,
  encodings: (words) => words.shell.encodings,
  attention: (words) => words.shell.attention,
};

type LessonPart = keyof Dictionary["lesson"]["parts"];
/** What a lesson link can hide, page by page: `address.hides(part)` asks. */
export const lessonParts: Record<PageName, readonly LessonPart[]> = {
  race: ["setup", "bar", "lanes", "atTest", "map", "writes", "numbers", "save", "kept"],
  encodings: ["choice", "beside", "symbols", "formula", "picture", "property", "beyond", "use", "save"],
  attention: ["text", "shift", "view", "distance", "pair", "source", "save"],
};

/** Unknown pages lead home. */
export function readRoute(hash: string): Route {
  const [place = "", ...rest] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...path] = place.split("/");
  const page = pageNames.find((known) => known === name) ?? "race";
  const parts = rest.join("?").split("&");
  const hidden = parts.filter((part) => part.startsWith("hide=")).flatMap((part) => part.slice(5).split(","));
  return {
    page,
    path: page === name ? path.join("/") : "",
    query: parts.filter((part) => !part.startsWith("hide=")).join("&"),
    hidden: hidden.filter((part) => /^[\w-]{1,40}$/.test(part)),
  };
}

export function routeHash({ page, path = "", query = "", hidden = [] }: Partial<Route> & { page: PageName }): string {
  const parts = [query, hidden.length ? `hide=${hidden.join(",")}` : ""].filter((part) => part !== "");
  return `#/${page}${path === "" ? "" : `/${path}`}${parts.length ? `?${parts.join("&")}` : ""}`;
}
