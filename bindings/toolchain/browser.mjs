// SPDX-License-Identifier: MIT
// How the browser tests start Chromium: the system's own, through playwright-core, which downloads none. CHROMIUM may
// name another program.

import { Stop, findProgram } from "./commands.mjs";
import { kBrowsers } from "./system-packages.mjs";

/** Options for playwright-core's `chromium.launch`. */
export function launchOptions() {
  const executablePath = process.env.CHROMIUM ?? kBrowsers.map(findProgram).find((path) => path !== null);
  if (!executablePath) throw new Stop("no Chromium here; node bindings/toolchain/setup.mjs --test brings it.");
  return {
    executablePath,
    args: [
      "--headless",
      // Containers have no user namespaces for its sandbox, and the tests open pages of this project only.
      "--no-sandbox",
      "--disable-gpu",
      // No requests of the browser's own: the tests count every request.
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  };
}
