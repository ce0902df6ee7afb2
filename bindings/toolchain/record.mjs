// SPDX-License-Identifier: MIT
// `npm run record`: makes the recorded runs that the page opens with, by the command of this build. Results are kept as
// they come (a test re-runs their first steps); weights of one seed are stored in half precision, for the switches at
// test time and the written text. The README's picture is drawn from the first of them. Named recordings can be made
// alone, npm run record -- needle, and so can the picture: npm run record -- picture.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { Stop, isMain, main, run, say } from "./commands.mjs";
import { corporaFolder, packageDescription, packageFolder, projectRoot } from "./locations.mjs";
import { setUp } from "./setup.mjs";

const kFolder = join(projectRoot, "web/public/recorded");
const kIndex = join(kFolder, "index.json");
/** In place of a recording's name: the picture alone. */
const kPicture = "picture";
/** What a page may fetch for one encoding, and what the repository carries in all. */
const kLargestWeights = 250_000;
const kLargestTotal = 2_500_000;

/** In the order of the page's list; the first is the one that it opens with. */
const recordings = [
  { name: "text-moby-dick", options: ["--seeds", "3"], weightsSeed: 1 },
  { name: "lookback", options: ["--task", "lookback", "--seeds", "2"], weightsSeed: null },
  { name: "first", options: ["--task", "first", "--seeds", "2"], weightsSeed: null },
  { name: "needle", options: ["--task", "needle", "--seeds", "2"], weightsSeed: null },
];

async function record({ name, options, weightsSeed }) {
  const { version } = packageDescription();
  const scratch = mkdtempSync(join(tmpdir(), "poslab-record-"));
  try {
    const out = join(scratch, "result.json");
    const command = [join(packageFolder, "cli/main.js"), "extrapolate", ...options, "--out", out, "--save", scratch];
    await run(process.execPath, command, { failure: `the recording "${name}" failed.` });
    const result = JSON.parse(readFileSync(out, "utf8"));
    removeOld(name);
    const stem = `${name}-build${version}`;
    const file = `${stem}-seeds${result.experiment.seeds.join("-")}.json`;
    writeFileSync(join(kFolder, file), `${JSON.stringify(result)}\n`);
    const weights = weightsSeed === null ? [] : await storeWeights(result, weightsSeed, scratch, stem);
    const date = new Date().toISOString().slice(0, 10);
    return { name, file, date, experiment: result.experiment, weightsSeed, weights };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function removeOld(name) {
  for (const file of readdirSync(kFolder)) if (file.startsWith(`${name}-build`)) rmSync(join(kFolder, file));
}

/** One file an encoding, in the order of the experiment; F32 as the command saves it becomes F16. */
async function storeWeights({ experiment }, seed, folder, stem) {
  const { readSafetensors, writeSafetensors } = await import(join(packageFolder, "js/index.js"));
  const { weightFileNames } = await import(join(packageFolder, "cli/weight-files.js"));
  const nameOf = weightFileNames(experiment);
  return experiment.encodings.map((_, encoding) => {
    const saved = nameOf({ encoding, seed });
    const { tensors, metadata } = readSafetensors(readFileSync(join(folder, saved)));
    const halves = [...tensors].map(([tensor, { data, shape }]) => [tensor, { data, shape, dtype: "F16" }]);
    const bytes = writeSafetensors(halves, Object.fromEntries(metadata));
    if (bytes.length > kLargestWeights)
      throw new Stop(`${saved} is ${bytes.length} bytes; ${kLargestWeights} is the limit`);
    const file = `${stem}-${saved}`;
    writeFileSync(join(kFolder, file), bytes);
    return file;
  });
}

function readIndex() {
  try {
    return JSON.parse(readFileSync(kIndex, "utf8"));
  } catch {
    return []; // the first recording of this clone
  }
}

/** Draws the first recording as `poslab extrapolate --svg` does. */
async function drawPicture() {
  const { resultSvg } = await import(join(packageFolder, "cli/result-svg.js"));
  const result = JSON.parse(readFileSync(join(kFolder, readIndex()[0].file), "utf8"));
  const { task } = result.experiment;
  const text = task.type === "text" ? readFileSync(join(corporaFolder, `${task.corpus}.txt`)) : null;
  writeFileSync(join(kFolder, "race.svg"), await resultSvg(result, text));
}

if (isMain(import.meta.url)) {
  await main(async (names) => {
    const known = [...recordings.map(({ name }) => name), kPicture];
    const unknown = names.find((name) => !known.includes(name));
    if (unknown) throw new Stop(`there is no recording "${unknown}"; there are ${known.join(", ")}`);
    await setUp();
    await build(["wasm", "corpora", "package"]);
    mkdirSync(kFolder, { recursive: true });
    const entries = new Map(readIndex().map((entry) => [entry.name, entry]));
    for (const recording of recordings) {
      if (names.length > 0 && !names.includes(recording.name)) continue;
      entries.set(recording.name, await record(recording));
      const index = recordings.flatMap(({ name }) => entries.get(name) ?? []);
      writeFileSync(kIndex, `${JSON.stringify(index)}\n`);
    }
    await drawPicture();
    const total = readdirSync(kFolder).reduce((sum, file) => sum + statSync(join(kFolder, file)).size, 0);
    if (total > kLargestTotal) throw new Stop(`the recordings are ${total} bytes; ${kLargestTotal} is the limit`);
    say(`${total} bytes in ${kFolder}`);
  });
}
