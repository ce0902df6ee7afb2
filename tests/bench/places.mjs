// SPDX-License-Identifier: MIT
// Runs the measurements where they belong: in a Node process of its own, on a page in Chromium, natively, and in fresh
// processes for the start-up. Each returns data; nothing is written here.

import { fork } from "node:child_process";
import { join } from "node:path";
import { launchOptions } from "../../bindings/toolchain/browser.mjs";
import { Stop, output, run, say } from "../../bindings/toolchain/commands.mjs";
import { buildRoot, packageFolder } from "../../bindings/toolchain/locations.mjs";
import { serveSite } from "../../bindings/toolchain/serve.mjs";
import { kernelsFolder, nodeFolder, pageFolder } from "./folders.mjs";

/** Node 20 has relaxed SIMD behind this; newer ones have it and still know the name. */
const kNodeOptions = ["--experimental-wasm-relaxed-simd"];
export const kStartupNames = ["PosLab", "onnxruntime-web", "tfjs-wasm", "jax-js"];

/** Sends a message to a fresh process and resolves to the answer that `read` takes from what it sends. */
function ask(script, message, read) {
  return new Promise((resolve, reject) => {
    const child = fork(join(nodeFolder, script), { execArgv: kNodeOptions, serialization: "advanced" });
    let answer;
    child.on("message", (sent) => {
      if (sent.error) answer = new Stop(`${script} failed: ${sent.error}`);
      else answer = read(sent) ?? answer;
    });
    child.on("error", reject);
    child.on("exit", (code) => {
      if (answer instanceof Stop) reject(answer);
      else if (answer === undefined) reject(new Stop(`${script} ended with status ${code} and no answer.`));
      else resolve(answer);
    });
    child.send(message);
  });
}

export async function measureInNode(plan) {
  const folders = { kernels: kernelsFolder, package: packageFolder };
  return ask("node.js", { folders, plan }, ({ say: text, result }) => {
    if (text) say(`  Node: ${text}`);
    return result;
  });
}

export async function measureInChromium(plan) {
  const { chromium } = await import("playwright-core");
  const site = await serveSite({ folder: pageFolder });
  const browser = await chromium.launch(launchOptions());
  try {
    const page = await browser.newPage();
    page.on("console", (message) => {
      if (message.type() === "log") say(`  Chromium: ${message.text()}`);
    });
    page.on("pageerror", (error) => say(`  Chromium: ${error.message}`));
    await page.goto(site.url);
    await page.waitForFunction(() => "measureHere" in window);
    const engine = `Chromium ${browser.version().split(".")[0]}`;
    return await page.evaluate(([name, given]) => window.measureHere(name, given), [engine, plan]);
  } finally {
    await browser.close();
    await site.close();
  }
}

/** Google Benchmark's own JSON: what of the kernels is asked for, repeated and in random order. */
export async function measureNatively({ topics, quick }) {
  const families = [
    ["attention", quick ? "attention/none|decode" : "attention|decode"],
    ["position", "position"],
    ["training", quick ? "(training|evaluation)/none|matmul" : "training|evaluation|matmul"],
  ];
  const wanted = families.filter(([topic]) => topics.includes(topic)).map(([, pattern]) => pattern);
  if (wanted.length === 0) return null;
  say("  natively: poslab_bench");
  const file = join(buildRoot, "bench/native.json");
  await run(
    join(buildRoot, "bench/poslab_bench"),
    [
      `--benchmark_filter=^(limit|${wanted.join("|")})`,
      "--benchmark_repetitions=7",
      `--benchmark_min_time=${quick ? 0.02 : 0.1}`,
      "--benchmark_enable_random_interleaving=true",
      `--benchmark_out=${file}`,
      "--benchmark_out_format=json",
    ],
    { quiet: true, failure: "poslab_bench failed." },
  );
  const { readFileSync } = await import("node:fs");
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Milliseconds from import to first result by library, every sample in a fresh process, taking turns. */
export async function measureStartup({ quick }) {
  const samples = Object.fromEntries(kStartupNames.map((name) => [name, []]));
  const rounds = quick ? 7 : 15;
  say("  start-up: fresh processes");
  for (let round = 0; round < rounds; round += 1) {
    for (const name of kStartupNames)
      samples[name].push(await ask("startup.js", { name, packageFolder }, ({ milliseconds }) => milliseconds));
  }
  return samples;
}

/** What the numbers were measured on. */
export async function machine() {
  const { cpus, totalmem } = await import("node:os");
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    gibibytes: Math.round(totalmem() / 2 ** 30),
    system: /PRETTY_NAME="(.*)"/.exec(output("cat", ["/etc/os-release"]) ?? "")?.[1] ?? process.platform,
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
    commit: output("git", ["rev-parse", "--short", "HEAD"]) ?? "",
  };
}
