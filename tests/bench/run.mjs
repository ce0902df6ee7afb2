// SPDX-License-Identifier: MIT
// `npm run bench`: sets up, installs the peers, builds, measures in Node, in Chromium and natively, and prints the tables.

import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Stop, main, say } from "../../bindings/toolchain/commands.mjs";
import { setUp } from "../../bindings/toolchain/setup.mjs";
import { kHelp, readArguments } from "./arguments.mjs";
import { benchFolder, nodeFolder } from "./folders.mjs";

const kInEngines = ["attention", "position", "training", "memory"];

function checkFolder(file) {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw new Stop(`${file} cannot be written: there is no folder ${folder}`);
}

/** Measures what was asked for; loads nothing from npm before the set-up. */
async function measure({ quick, topics, places }, command) {
  const { machine, measureInChromium, measureInNode, measureNatively, measureStartup } = await import("./places.mjs");
  const found = { places: [], native: null, startup: null, sizes: null, failures: [] };
  const results = { machine: await machine(), command, quick, ...found };
  // What one place found is kept when another one fails.
  const attempt = async (place, body) => {
    try {
      return await body();
    } catch (error) {
      results.failures.push(`${place}: ${error.message}`);
      return null;
    }
  };
  const addPlace = async (place, body) => {
    const measured = await attempt(place, body);
    if (measured) results.places.push(measured);
  };
  const inEngines = topics.filter((topic) => kInEngines.includes(topic));
  if (inEngines.length > 0) {
    if (places.includes("node")) await addPlace("Node", () => measureInNode({ topics: inEngines, quick }));
    // Memory is the module's own, and Node has told it; a quick run leaves the positional kernels out, too.
    const inNode = (topic) => places.includes("node") && (topic === "memory" || (quick && topic === "position"));
    const onPage = inEngines.filter((topic) => !inNode(topic));
    if (places.includes("chromium") && onPage.length > 0)
      await addPlace("Chromium", () => measureInChromium({ topics: onPage, quick }));
    if (places.includes("native")) results.native = await attempt("natively", () => measureNatively({ topics, quick }));
  }
  if (topics.includes("startup")) results.startup = await attempt("start-up", () => measureStartup({ quick }));
  if (topics.includes("size")) {
    const { measureSizes } = await import("./size.mjs");
    results.sizes = await attempt("sizes", measureSizes);
  }
  return results;
}

await main(async (list) => {
  const options = readArguments(list);
  if (options.help) {
    say(kHelp);
    return;
  }
  const { places, topics } = options;
  // Now, and not after the measurements.
  for (const file of [options.markdown, options.svg, options.out].filter(Boolean)) checkFolder(file);
  const parts = ["native", "emscripten", "npm"];
  if (places.includes("chromium")) parts.push("browser");
  if (places.includes("native")) parts.push("bench");
  say("Set-up and builds:");
  await setUp(parts);
  const { provideNodeModules } = await import("../../bindings/toolchain/node-modules.mjs");
  await provideNodeModules(benchFolder);
  const { buildFor } = await import("./build.mjs");
  await buildFor(places, topics);

  say(`Measuring ${topics.join(", ")} in ${places.join(", ")}${options.quick ? ", quickly" : ""}:`);
  const started = performance.now();
  const results = await measure(options, ["npm run bench", ...(list.length > 0 ? ["--", ...list] : [])].join(" "));
  say(`Measured in ${Math.round((performance.now() - started) / 1000)} s.\n`);

  const { barsOf, jsonOf, markdownOf } = await import(pathToFileURL(join(nodeFolder, "report.js")).href);
  const markdown = markdownOf(results);
  say(markdown);
  if (options.markdown) writeFileSync(options.markdown, markdown);
  if (options.svg) writeFileSync(options.svg, barsOf(results));
  if (options.out) writeFileSync(options.out, jsonOf(results));
  if (results.failures.length > 0) process.exitCode = 1;
});
