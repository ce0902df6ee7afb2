// SPDX-License-Identifier: MIT
// The address of what is on screen. It is read when the page opens or a link is followed, and follows the settings
// afterwards; what a lesson link hides stays hidden while the page is used.

import { readRoute, routeHash, type PageName, type Route } from "./routes.js";

/** Typing and dragging write the address at most this often, in milliseconds: browsers refuse more. */
const kQuiet = 300;

class Address {
  route = $state.raw<Route>(readRoute(location.hash));
  /** grows when a link is followed: a fresh start of its page */ visit = $state(0);
  #waiting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    addEventListener("hashchange", () => {
      clearTimeout(this.#waiting);
      this.route = readRoute(location.hash);
      this.visit += 1;
    });
  }
  /** Whether a lesson link hides this part of the page. */
  hides = (part: string): boolean => this.route.hidden.includes(part);
  showAll(): void {
    this.route = { ...this.route, hidden: [] };
    history.replaceState(null, "", routeHash(readRoute(location.hash)).replace(/[?&]hide=.*/, ""));
  }
  /** The whole address of a state of a page, for links to copy. */
  linkTo = (page: PageName, query: string, path = ""): string =>
    new URL(routeHash({ page, path, query, hidden: this.route.hidden }), location.href).href;

  /** Writes the state of the page into the address, quietly. The result takes it back. */
  follow(page: PageName, query: string, path = ""): () => void {
    clearTimeout(this.#waiting);
    const { hidden } = this.route;
    this.#waiting = setTimeout(() => history.replaceState(null, "", routeHash({ page, path, query, hidden })), kQuiet);
    return () => clearTimeout(this.#waiting);
  }
}

export const address = new Address();
