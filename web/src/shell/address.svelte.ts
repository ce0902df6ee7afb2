// SPDX-License-Identifier: MIT
// The address of what is on screen. It is read when the page opens or a link is followed, and follows the settings
// afterwards; what a lesson link hides stays hidden while the page is used.

import { readRoute, routeHash, type PageName, type Route } from "./routes.js";

/** Typing and dragging write the address at most this often, in milliseconds: browsers refuse more. */
const kQuiet = 300;

class Address {
  route = $state.raw<Route>(readRoute(location.hash));
  /** grows when a link is followed: a fresh start of its page */ visit = $state(0);
  /** the hash as it is now, quiet writes included */ written = $state.raw(location.hash);
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** what the last named action left: Back leads there */ #named = routeHash(readRoute(location.hash));

  constructor() {
    addEventListener("hashchange", () => {
      clearTimeout(this.#waiting);
      this.written = location.hash;
      this.#named = routeHash(readRoute(location.hash));
      this.route = readRoute(location.hash);
      this.visit += 1;
    });
  }
  /** Whether a lesson link hides this part of the page. */
  hides = (part: string): boolean => this.route.hidden.includes(part);
  showAll(): void {
    this.route = { ...this.route, hidden: [] };
    this.#replace(routeHash(readRoute(location.hash)).replace(/[?&]hide=.*/, ""));
  }
  #replace(hash: string): void {
    history.replaceState(null, "", hash);
    this.written = location.hash;
  }
  /** The whole address of a state of a page, for links to copy. */
  linkTo = (page: PageName, query: string, path = ""): string =>
    new URL(routeHash({ page, path, query, hidden: this.route.hidden }), location.href).href;

  /** Writes the state of the page into the address, quietly. The result takes it back. */
  follow(page: PageName, query: string, path = ""): () => void {
    clearTimeout(this.#waiting);
    const { hidden } = this.route;
    this.#waiting = setTimeout(() => {
      // Another hash: a link has been followed, and its event is on its way. It would find the old address.
      if (location.hash === this.written) this.#replace(routeHash({ page, path, query, hidden }));
    }, kQuiet);
    return () => clearTimeout(this.#waiting);
  }

  /** A named action (a race started, another run opened) makes an entry of the history: Back leads to the one before. */
  named(page: PageName, query: string, path = ""): void {
    clearTimeout(this.#waiting);
    const hash = routeHash({ page, path, query, hidden: this.route.hidden });
    // What was only tried in between is not an entry of its own.
    this.#replace(this.#named);
    if (hash === this.#named) return;
    history.pushState(null, "", hash);
    this.written = location.hash;
    this.#named = hash;
  }
}

export const address = new Address();
