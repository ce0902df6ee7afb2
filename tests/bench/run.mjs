// SPDX-License-Identifier: MIT
// `npm run bench`: sets up, installs the peers, builds, measures in Node, in Chromium and natively, and prints the tables.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { main, say } from "../../bindings/toolchain/commands.mjs";
import { setUp } from "../../bindings/toolchain/setup.mjs";
import { kHelp, readArguments } from "./arguments.mjs";
import { benchFolder, nodeFolder } from "./folders.mjs";

const kInEngines = ["attention", "position", "training", "memory"];

/** Measures what was asked for; loads nothing from npm before the set-up. */
async function measure({ quick, topics, places }, command) {
  const { machine, measureInChromium, measureInNode, measureNatively, measureStartup } = await import("./places.mjs");
  const results = { machine: await machine(), command, quick, places: [], native: null, startup: null, sizes: null };
  const inEngines = topics.filter((topic) => kInEngines.includes(topic));
  if (inEngines.length > 0) {
    if (places.includes("node")) results.places.push(await measureInNode({ topics: inEngines, quick }));
    // Memory is the module's own, and Node has told it; a quick run leaves the positional kernels out, too.
    const inNode = (topic) => places.includes("node") && (topic === "memory" || (quick && topic === "position"));
    const onPage = inEngines.filter((topic) => !inNode(topic));
    if (places.includes("chromium") && onPage.length > 0)
      results.places.push(await measureInChromium({ topics: onPage, quick }));
    if (places.includes("native")) results.native = await measureNatively({ topics, quick });
  }
  if (topics.includes("startup")) results.startup = await measureStartup({ quick });
  if (topics.includes("size")) {
    const { measureSizes } = await import("./size.mjs");
    results.sizes = await measureSizes();
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
});
