// SPDX-License-Identifier: MIT
// `npm test`: sets the machine up, then runs every kind of test and counts. `npm test -- native browser` runs those
// kinds alone, `npm test -- --help` lists them. The last line is "N passed, N failed".

import { Stop, main, say } from "../bindings/toolchain/commands.mjs";
import { kForTesting, setUp } from "../bindings/toolchain/setup.mjs";

const kHelp = `npm test                    everything (set-up included)
npm test -- KIND ...        some kinds alone
npm test -- --help          this list

Kinds, in the order in which they run:`;

function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${String(Math.round(seconds % 60)).padStart(2, "0")} s`;
}

function counts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** The kinds with these names, or all. Loads nothing from npm, so that --help works before anything is installed. */
async function readKinds(names) {
  const { kinds } = await import("../bindings/toolchain/test-kinds.mjs");
  const unknown = names.find((name) => !kinds.some((kind) => kind.name === name));
  if (unknown)
    throw new Stop(`there is no kind of test "${unknown}"; the kinds are ${kinds.map((kind) => kind.name).join(", ")}`);
  return names.length > 0 ? kinds.filter((kind) => names.includes(kind.name)) : kinds;
}

async function runKind(kind) {
  say(`\n━━ ${kind.name}: ${kind.what}`);
  const started = performance.now();
  let result;
  try {
    const { build } = await import("../bindings/toolchain/build.mjs");
    if (kind.build) await build(kind.build);
    result = await kind.run();
    if (result.passed + result.failed + result.skipped === 0) throw new Stop("no test was found");
  } catch (error) {
    process.stderr.write(`${error instanceof Stop ? error.message : error.stack}\n`);
    result = { passed: 0, failed: 1, skipped: 0 };
  }
  const row = { name: kind.name, milliseconds: performance.now() - started, ...result };
  say(`── ${kind.name}: ${counts(row)}${row.note ? ` (${row.note})` : ""} in ${duration(row.milliseconds)}`);
  return row;
}

await main(async (options) => {
  const kinds = await readKinds(options.filter((option) => option !== "--help"));
  if (options.includes("--help")) {
    say(kHelp);
    for (const kind of kinds) say(`  ${kind.name.padEnd(14)}${kind.what}`);
    return;
  }
  const started = performance.now();
  await setUp(
    kForTesting.filter((part) => kinds.some((kind) => (kind.setUp ?? ["native", "emscripten", "npm"]).includes(part))),
  );
  const setUpTime = performance.now() - started;

  const rows = [];
  for (const kind of kinds) rows.push(await runKind(kind));

  const total = { passed: 0, failed: 0, skipped: 0 };
  say(`\n${"kind".padEnd(15)}${"result".padEnd(40)}time`);
  say(`${"set-up".padEnd(15)}${"".padEnd(40)}${duration(setUpTime)}`);
  for (const row of rows) {
    for (const key of Object.keys(total)) total[key] += row[key];
    const result = `${row.failed > 0 ? "FAILED  " : ""}${counts(row)}`;
    say(`${row.name.padEnd(15)}${result.padEnd(40)}${duration(row.milliseconds)}`);
  }
  for (const row of rows) for (const failure of row.failures ?? []) say(`\nfailed in ${row.name}: ${failure}`);
  say(`${"total".padEnd(15)}${"".padEnd(40)}${duration(performance.now() - started)}`);
  say(counts(total));
  if (total.failed > 0) process.exitCode = 1;
});
