// SPDX-License-Identifier: MIT
// Help, and what happens to options that are misspelt or make no sense: one line that names the option, and status 2.

import { existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { poslab, poslabInto, projectRoot } from "./support.js";

const commands = [
  "extrapolate",
  "check",
  "table",
  "bias",
  "rotate",
  "attention",
  "schemes",
  "model",
  "perplexity",
  "generate",
];

describe("help", () => {
  test("of the program lists every command, an example and the exit statuses", async () => {
    const { status, stdout, stderr } = await poslab(["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(stdout).toMatch(/Example:\n {2}poslab /);
    expect(stdout).toMatch(/Exit status:\n {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}130 /);
  });

  test.each(commands)("of %s has an example", async (name) => {
    const { status, stdout } = await poslab([name, "--help"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`Usage: poslab ${name}`));
    expect(stdout).toMatch(new RegExp(`Example:\n {2}poslab ${name}`));
  });

  test("goes to standard error, with status 2, when no command is given", async () => {
    const { status, stdout, stderr } = await poslab([]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("Usage: poslab");
  });

  test("--version prints the package's version alone", async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
    expect(await poslab(["--version"])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("and tables have colours only for a terminal, or when they are forced", async () => {
    // eslint-disable-next-line no-control-regex
    const coloured = /\u001b\[/;
    const words = ["schemes"];
    expect((await poslab(["extrapolate", "--help"], { env: { CI: "1" } })).stdout).not.toMatch(coloured);
    expect((await poslab(words, { env: { CI: "1" } })).stdout).not.toMatch(coloured);
    expect((await poslab(words, { env: { FORCE_COLOR: "1", NO_COLOR: "" } })).stdout).toMatch(coloured);
    expect((await poslab(words, { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stdout).not.toMatch(coloured);
  });
});

describe("wrong options", () => {
  const wrong: [string, string[], RegExp][] = [
    ["a misspelt option", ["extrapolate", "--stpes", "3"], /'--stpes' \(did you mean --steps\?\)/],
    ["a misspelt command", ["extrapolat"], /'extrapolat' \(did you mean extrapolate\?\)/],
    ["an option of another command", ["check", "--steps", "3", "."], /unknown option '--steps'/],
    [
      "text for a number",
      ["extrapolate", "--steps", "many"],
      /'--steps <n>'.*'many'.*Allowed: a whole number, 0 or more/,
    ],
    ["a number out of range", ["bias", "--heads", "0"], /'--heads <n>'.*a whole number, 1 or more/],
    ["a choice that is none", ["extrapolate", "--unit", "words"], /'--unit <unit>'.*characters, bytes/],
    ["a missing value", ["extrapolate", "--out"], /'--out <file>' argument missing/],
    ["too many arguments", ["bias", "alibi"], /too many arguments for 'bias'/],
    ["nothing to check", ["check"], /missing required argument 'path'/],
    [
      "an ending that is no format",
      ["bias", "--out", "bias.png"],
      /option '--out': bias\.png ends in \.png; allowed are \.json, \.csv, \.safetensors, \.svg/,
    ],
    [
      "a folder that is not there",
      ["extrapolate", "--out", "no/such/folder/result.json"],
      /option '--out': there is no folder no\/such\/folder/,
    ],
    ["an unknown scheme", ["bias", "--position", "alibbi"], /option '--position': .*"alibbi".*did you mean "alibi"/],
    [
      "a field that the scheme does not have",
      ["bias", "--position", "alibi", "--theta", "5"],
      /option '--theta': .*theta/,
    ],
    ["a field of the wrong kind", ["rotate", "--set", "layout=3"], /option '--set': .*layout/],
    [
      "an odd number of rotary lanes",
      ["rotate", "--rotary-dim", "5"],
      /option '--rotary-dim': .*rotaryDim.*5 was given/,
    ],
    [
      "an unknown encoding",
      ["extrapolate", "--encodings", "rope,alibbi"],
      /option '--encodings': encodings\[1\].*"alibbi".*"alibi"/,
    ],
    [
      "an unknown task",
      ["extrapolate", "--task", "neeedle"],
      /option '--task': task\.type: "neeedle" is not known; did you mean "needle"/,
    ],
    [
      "a corpus that is nowhere",
      ["extrapolate", "--corpus", "no-such.txt"],
      /option '--corpus': there is no file no-such\.txt, and the built-in texts are .*moby-dick/,
    ],
    [
      "heads that do not divide the width",
      ["extrapolate", "--heads", "3"],
      /option '--heads': model\.heads: 3 was given; a divisor of model\.dim \(64\)/,
    ],
    [
      "an unknown field",
      ["extrapolate", "--set", "training.lenght=5"],
      /option '--set': training\.lenght is not known; did you mean "length"/,
    ],
    ["training that is no object", ["extrapolate", "--length", "16", "--set", "training=5"], /'--set': training: 5/],
    ["a model that is null", ["extrapolate", "--set", "model=null"], /option '--set': model: null was given/],
    ["an export into a folder that is not there", ["export", "--out", "no/a.safetensors"], /there is no folder no/],
    ["an export with another ending", ["export", "--out", "a.txt"], /option '--out': a\.txt ends in \.txt/],
    [
      "an export that is far too long",
      ["export", "--length", "99999999999", "--out", "a.safetensors"],
      /length: .*asked for/,
    ],
    ["a mask for a rotation's export", ["export", "--causal", "--out", "a.safetensors"], /'--causal': rope rotates/],
    ["a table of what has none", ["table", "--position", "t5"], /"t5" was given; a scheme that adds a table/],
    ["a bias of what is added to tokens", ["bias", "--position", "learned"], /learned adds nothing to the logits/],
    ["turning by what does not turn", ["rotate", "--position", "t5"], /"t5" was given; a scheme that rotates/],
    [
      "a change at test time of nothing",
      ["extrapolate", "--at-test", '[{"of":9,"window":4}]'],
      /option '--at-test': atTest\[0\]\.of: 9 was given/,
    ],
    ["JSON that is none", ["extrapolate", "--at-test", "[{]"], /'--at-test <json>'.*It is not JSON/],
    [
      "an experiment that is not there",
      ["extrapolate", "no-such.json"],
      /no-such\.json cannot be read: there is no such file/,
    ],
    ["a folder as an experiment", ["extrapolate", "."], /^poslab: \. cannot be read: it is a folder/],
    [
      "a resume together with changes",
      ["extrapolate", "--resume", "x.json", "--steps", "3"],
      /option '--resume'.*--steps cannot change it/,
    ],
    ["a result that is not there", ["extrapolate", "--resume", "no-such.json"], /no-such\.json cannot be read/],
  ];

  test.each(wrong)("%s is refused in one line with status 2", async (_, words, message) => {
    const { status, stdout, stderr } = await poslab(words);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^poslab: [^\n]+\n$/);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });

  test("experiments on standard input are refused with their place", async () => {
    const cases: [string, RegExp][] = [
      ["", /standard input is not JSON: it is empty/],
      ['{"training": {"length": 16}', /standard input is not JSON: .*line 1/],
      ["[]", /the experiment/],
      ["null", /the experiment/],
      ['{"model": {"dim": "wide"}}', /model\.dim: "wide" was given; a whole number/],
      ['{"sedes": [1]}', /sedes is not known; did you mean "seeds"/],
      ['{"training": {"steps": 5, "tokens": 100}}', /training\.tokens.*not both/],
    ];
    for (const [input, message] of cases) {
      const { status, stderr } = await poslab(["extrapolate", "-"], { input });
      expect(stderr).toMatch(message);
      expect(stderr.trimEnd()).not.toContain("\n");
      expect(status).toBe(2);
    }
  });
});

test.skipIf(!existsSync("/dev/full"))("standard output on a full disk is a failure, told in one line", () => {
  for (const words of [
    ["table"],
    ["schemes"],
    ["check", join(projectRoot, "tests/cases/edge-one-token.safetensors")],
  ]) {
    const { status, stderr } = poslabInto(openSync("/dev/full", "w"), words);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "poslab: standard output cannot be written: the disk is full\n",
    });
  }
});
