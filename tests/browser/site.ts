// SPDX-License-Identifier: MIT
// The built site as a static host serves it: from a sub-path, with nothing else beside it; and Chromium to open it with.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import sirv from "sirv";
import { launchOptions } from "../../bindings/toolchain/browser.mjs";

const kSubPath = "/some/sub-path/";
const siteFolder = fileURLToPath(new URL("../../site", import.meta.url));

export interface Site {
  url: string;
  browser: Browser;
  close: () => Promise<void>;
}

export interface SiteOptions {
  /** sent as the Content-Security-Policy with every file, so that it binds workers too */ policy?: string;
  /** further flags of Chromium */ flags?: readonly string[];
}

/** `folder` defaults to the built site. */
export async function openSite(folder = siteFolder, { policy, flags = [] }: SiteOptions = {}): Promise<Site> {
  if (!existsSync(folder)) throw new Error("site/ is not there: node bindings/toolchain/build.mjs");
  const serve = sirv(folder, {
    dev: true,
    setHeaders: (response) => {
      if (policy !== undefined) response.setHeader("Content-Security-Policy", policy);
    },
  });
  const server = createServer((request, response) => {
    const refuse = () => {
      response.statusCode = 404;
      response.end();
    };
    if (!request.url?.startsWith(kSubPath)) return refuse();
    request.url = request.url.slice(kSubPath.length - 1);
    serve(request, response, refuse);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const options = launchOptions();
  const browser = await chromium.launch({ ...options, args: [...options.args, ...flags] });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${kSubPath}`,
    browser,
    close: async () => {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** what must stay empty: errors of scripts, refusals of the policy, requests to other origins */ troubles: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  hash?: string;
  /** runs in the page before its own scripts */ before?: (page: Page) => Promise<unknown>;
}

/** Opens the site in a browser profile of its own. */
export async function visit(site: Site, { hash = "", before, ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await site.browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: "en-GB",
    ...options,
  });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") troubles.push(`console: ${message.text()}`);
  });
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "blob:" && origin !== new URL(site.url).origin) troubles.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    // Two workers on every machine, so that tests know who waits.
    Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 2 });
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  await before?.(page);
  await page.goto(site.url + hash);
  return { page, context, troubles };
}

/** Two tiny models on a toy task: seconds, and no text to load. `steps` says how long it goes on. */
export const tinyRace = (steps: number, more = "") =>
  `#/race?v=1&task=first&L=16&e=rope,alibi&dim=16&heads=2&ff=32&batch=4&steps=${steps}&windows=8${more}`;

export const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

/** Waits until the play bar says that all runs are done. */
export async function untilFinished(page: Page): Promise<void> {
  await page.locator(".bar .time", { hasText: "finished" }).waitFor({ timeout: 120_000 });
}

/** Steps that the lanes show, in their order; empty when they show none. */
export async function stepsShown(page: Page): Promise<number[]> {
  const texts = await page.locator("section[aria-labelledby=lanes-heading] li .state").allInnerTexts();
  return texts.flatMap((text) => {
    const step = /step ([\d,]+) \//.exec(text);
    return step ? [Number(step[1]!.replaceAll(",", ""))] : [];
  });
}

/** What a click saves. */
export async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** microseconds of processor time */ tdur?: number;
  args?: { name?: string };
}
const kLongTask = 50_000;

/**
 * Tasks of the page's own thread meanwhile, by the processor time that they took: a busy machine that gives the page no
 * time does not count against it. `long` has those above 50 ms, in microseconds.
 */
export async function mainThreadTasks(
  site: Site,
  page: Page,
  meanwhile: () => Promise<unknown>,
): Promise<{ all: number; long: number[] }> {
  await site.browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
  await meanwhile();
  const { traceEvents } = JSON.parse((await site.browser.stopTracing()).toString("utf8")) as {
    traceEvents: TraceEvent[];
  };
  const main = traceEvents.filter((event) => event.name === "thread_name" && event.args?.name === "CrRendererMain");
  const onMain = (event: TraceEvent) => main.some(({ pid, tid }) => pid === event.pid && tid === event.tid);
  const tasks = traceEvents.filter((event) => /RunTask$/.test(event.name) && onMain(event));
  const times = tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur]));
  return { all: times.length, long: times.filter((time) => time > kLongTask) };
}
