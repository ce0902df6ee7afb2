// SPDX-License-Identifier: MIT
// Downloads packages of another suite of the same distribution without installing them and without adding a source to
// the system: apt works on a copy of the machine's own sources with the suite changed, and a state folder of its own.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Stop, run } from "./commands.mjs";

/** Fetches `names` of suite `to` into `folder`; returns the paths of the .deb files. */
export async function downloadFromSuite({ from, to, names, folder }) {
  const apt = resolve(folder, "apt");
  rmSync(folder, { recursive: true, force: true });
  for (const name of ["sources", "lists/partial", "cache/archives/partial"])
    mkdirSync(join(apt, name), { recursive: true });
  const sources = readMachineSources(from, to);
  if (sources.length === 0)
    throw new Stop(`the machine's apt sources name no suite "${from}", so no mirror is known for "${to}".`);
  sources.forEach(({ text, extension }, index) =>
    writeFileSync(join(apt, "sources", `source-${index}.${extension}`), text),
  );

  const options = [
    "Dir::Etc::SourceList=/dev/null",
    `Dir::Etc::SourceParts=${join(apt, "sources")}`,
    `Dir::State::Lists=${join(apt, "lists")}`,
    `Dir::Cache=${join(apt, "cache")}`,
    "Acquire::Languages=none",
    // By default a mirror that does not answer is only a warning.
    "APT::Update::Error-Mode=any",
    // The folder may be in a home that apt's own user cannot enter.
    "APT::Sandbox::User=",
  ].flatMap((option) => ["-o", option]);
  const failure = `the download of ${names.join(" ")} (suite ${to}) failed; nothing was kept. Run the same command again once the mirror answers.`;
  await run("apt-get", [...options, "update", "-qq"], { failure });
  await run("apt-get", [...options, "download", "-qq", ...names], { cwd: folder, failure });
  const debs = readdirSync(folder).filter((name) => name.endsWith(".deb"));
  if (debs.length < names.length) throw new Stop(failure);
  return debs.map((name) => join(resolve(folder), name));
}

function readMachineSources(from, to) {
  const files = ["/etc/apt/sources.list"];
  const parts = "/etc/apt/sources.list.d";
  if (existsSync(parts)) files.push(...readdirSync(parts).map((name) => join(parts, name)));
  return files
    .filter((file) => existsSync(file) && /\.(list|sources)$/.test(file))
    .map((file) => {
      const deb822 = file.endsWith(".sources");
      const text = readFileSync(file, "utf8");
      return {
        extension: deb822 ? "sources" : "list",
        text: deb822 ? changeStanzas(text, from, to) : changeLines(text, from, to),
      };
    })
    .filter(({ text }) => text !== "");
}

/** One-line form: "deb [options] address suite components...". Other suites and source packages are left out. */
export function changeLines(text, from, to) {
  const lines = [];
  for (const line of text.split("\n")) {
    const match = /^\s*deb\s+((?:\[[^\]]*\]\s+)?\S+)\s+(\S+)\s+(.*)$/.exec(line);
    const suite = match && changeSuite(match[2], from, to);
    if (suite) lines.push(`deb ${match[1]} ${suite} ${match[3]}`);
  }
  return lines.length > 0 ? `${lines.join("\n")}\n` : "";
}

/** deb822 form: stanzas of "Field: value", one of the fields being Suites. */
export function changeStanzas(text, from, to) {
  const stanzas = [];
  for (const stanza of text.split(/\n\s*\n/)) {
    const lines = stanza.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
    const suites = lines.find((line) => /^Suites:/i.test(line));
    const disabled = lines.some((line) => /^Enabled:\s*no/i.test(line));
    if (!suites || disabled) continue;
    const changed = suites
      .replace(/^Suites:/i, "")
      .trim()
      .split(/\s+/)
      .map((suite) => changeSuite(suite, from, to))
      .filter(Boolean);
    if (changed.length === 0) continue;
    const rest = lines.filter((line) => line !== suites && !/^Types:/i.test(line));
    stanzas.push(["Types: deb", `Suites: ${changed.join(" ")}`, ...rest].join("\n"));
  }
  return stanzas.length > 0 ? `${stanzas.join("\n\n")}\n` : "";
}

function changeSuite(suite, from, to) {
  if (suite === from) return to;
  return suite.startsWith(`${from}-`) || suite.startsWith(`${from}/`) ? to + suite.slice(from.length) : null;
}
