// SPDX-License-Identifier: MIT
// `poslab extrapolate`: a tiny experiment with every output read back, and interrupted ones that end with the same numbers as
// one that was left alone.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { csvParse } from "d3-dsv";
import { beforeAll, describe, expect, test } from "vitest";
import { readSafetensors } from "../../bindings/js/safetensors.js";
import type { ExperimentResult } from "../../bindings/js/types.js";
import { type Ended, poslab, startPoslab, temporaryFolder } from "./support.js";

const folder = temporaryFolder();
const path = (name: string): string => join(folder, name);
const read = (name: string): ExperimentResult => JSON.parse(readFileSync(path(name), "utf8")) as ExperimentResult;

/** What has to be equal: everything but the time it took. */
function numbers(result: ExperimentResult): unknown {
  return { ...result, runs: result.runs.map((run) => ({ ...run, seconds: 0, tokensPerSecond: 0 })) };
}

const text = "the cat sat on the mat, and the dog lay by the log; ".repeat(80);
const tiny = [
  "--length",
  "8",
  "--test",
  "8,16",
  "--dim",
  "16",
  "--heads",
  "2",
  "--layers",
  "1",
  "--batch",
  "4",
  "--windows",
  "4",
  "--set",
  "model.feedForward=32",
  "--set",
  "training.warmup=5",
];

describe("a tiny experiment", () => {
  let ended: Ended;
  beforeAll(async () => {
    writeFileSync(path("text.txt"), text);
    ended = await poslab(
      [
        "extrapolate",
        "--encodings",
        "rope,learned",
        "--at-test",
        '[{"of":0,"window":8},{"of":0,"distances":{"policy":"grouped","window":4}}]',
        "--seeds",
        "2",
        "--steps",
        "20",
        ...tiny,
        "--corpus",
        path("text.txt"),
        "--out",
        path("result.json"),
        "--csv",
        path("result.csv"),
        "--svg",
        path("result.svg"),
        "--save",
        path("weights"),
      ],
      { cwd: folder },
    );
  });

  test("ends with status 0, a table and the verdict", () => {
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/L = 8 +16\n/);
    expect(ended.stdout).toMatch(/^rope +\d\.\d{3} ± \d\.\d{3} +\d\.\d{3} ± \d\.\d{3}$/m);
    expect(ended.stdout).toMatch(/^– rope, window 8 +\d/m);
    expect(ended.stdout).toMatch(/^– rope, Self-Extend, window 4 +\d/m);
    expect(ended.stdout).toMatch(/^learned +\d\.\d{3} ± \d\.\d{3} +not defined$/m);
    expect(ended.stdout.trimEnd().split("\n").at(-1)).toBe(read("result.json").verdict);
  });

  test("reports progress in plain lines where there is no terminal", () => {
    expect(ended.stderr).toMatch(/^rope, seed 1: +\d+ % /m);
    expect(ended.stderr).toMatch(/^learned, seed 2: 100 % {2}done$/m);
    // eslint-disable-next-line no-control-regex
    expect(ended.stderr).not.toMatch(/\u001b/);
  });

  test("writes the complete result", () => {
    const { experiment, runs } = read("result.json");
    expect(experiment).toMatchObject({
      task: { type: "text", corpus: "text.txt" },
      seeds: [1, 2],
      model: { dim: 16, feedForward: 32 },
      training: { length: 8, steps: 20, warmup: 5 },
      test: { lengths: [8, 16], windows: 4 },
    });
    expect(runs.map(({ encoding, seed }) => [encoding, seed])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
    ]);
    for (const run of runs) {
      expect(run.byLength[0]!.lossAtEnd).toBeGreaterThan(0);
      expect(run.byLength[1]!.lossAtEnd === null).toBe(run.encoding === 1);
    }
    expect(runs[0]!.atTest[0]!.byLength).toHaveLength(2);
  });

  test("writes CSV with the numbers of the result", () => {
    const rows = csvParse(readFileSync(path("result.csv"), "utf8"));
    const { runs } = read("result.json");
    expect(rows).toHaveLength(2 * 2 * 2 + 2 * 2 * 2);
    const row = rows.find(
      ({ encoding, seed, length, atTest }) => encoding === "0" && seed === "2" && length === "16" && atTest === "",
    )!;
    expect(Number(row["lossAtEnd"])).toBe(runs[1]!.byLength[1]!.lossAtEnd);
  });

  test("writes a chart with a curve for each row of the table", () => {
    const svg = readFileSync(path("result.svg"), "utf8");
    expect(svg.match(/class="curve"/g)).toHaveLength(4);
    expect(svg).toContain("trained length 8");
    expect(svg).toContain("text.txt");
  });

  test("saves the weights of every run", () => {
    const names = readdirSync(path("weights")).sort();
    expect(names).toEqual([
      "learned-length8-seed1.safetensors",
      "learned-length8-seed2.safetensors",
      "rope-length8-seed1.safetensors",
      "rope-length8-seed2.safetensors",
    ]);
    const { tensors } = readSafetensors(readFileSync(join(path("weights"), names[0]!)));
    expect(tensors.get("position.table")!.shape).toEqual([8, 16]);
    const count = [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0);
    expect(count).toBe(read("result.json").runs[2]!.parameters);
  });

  test("gives the same numbers again, and with --json prints nothing but the result", async () => {
    writeFileSync(path("experiment.json"), JSON.stringify(read("result.json").experiment));
    const again = await poslab(["extrapolate", path("experiment.json"), "--json", "--quiet", "--workers", "1"], {
      cwd: folder,
    });
    expect({ status: again.status, stderr: again.stderr }).toEqual({ status: 0, stderr: "" });
    expect(numbers(JSON.parse(again.stdout) as ExperimentResult)).toEqual(numbers(read("result.json")));
  });

  test("resumed when it is finished only shows the result again", async () => {
    const before = readFileSync(path("result.json"), "utf8");
    const { status, stdout, stderr } = await poslab(["extrapolate", "--resume", path("result.json")], { cwd: folder });
    expect(status, stderr).toBe(0);
    expect(stdout).toBe(ended.stdout);
    expect(stderr).toContain("4 of 4 runs are done");
    expect(readFileSync(path("result.json"), "utf8")).toBe(before);
  });
});

describe("a toy task", () => {
  test("ends with accuracies in percent", async () => {
    const { status, stdout, stderr } = await poslab(["extrapolate", "-", "--json"], {
      input: JSON.stringify({
        task: { type: "first" },
        encodings: [{ type: "none" }],
        model: { dim: 16, heads: 2, layers: 1, feedForward: 32 },
        training: { length: 8, batch: 4, steps: 5 },
        test: { lengths: [8, 12], windows: 3 },
      }),
    });
    expect(status, stderr).toBe(0);
    const { runs } = JSON.parse(stdout) as ExperimentResult;
    expect(runs[0]!.byLength[1]!.accuracyAtEnd).toBeGreaterThanOrEqual(0);
    const table = await poslab([
      "extrapolate",
      "--task",
      "first",
      "--encodings",
      "none",
      "--steps",
      "2",
      ...tiny,
      "--quiet",
    ]);
    expect(table.stdout).toMatch(/^accuracy in %.*\n +L = 8 +16\nnone +\d+\.\d +\d+\.\d$/m);
    expect(table.stderr).toBe("");
  });
});

describe("interrupted", () => {
  // Long enough to be in the middle when the signal comes, on a slow machine and on a fast one.
  const words = [
    "extrapolate",
    "--encodings",
    "rope,learned,alibi",
    "--steps",
    "12000",
    "--corpus",
    "text.txt",
    ...tiny,
    "--workers",
    "1",
  ];

  test.each(["SIGINT", "SIGTERM"] as const)(
    "by %s it keeps what is done, and resumed it ends as if nothing had happened",
    async (signal) => {
      const place = path(signal);
      mkdirSync(place);
      writeFileSync(join(place, "text.txt"), text);
      const whole = await poslab([...words, "--json", "--quiet"], { cwd: place });
      expect(whole.status, whole.stderr).toBe(0);

      const { child, ended, said } = startPoslab([...words, "--out", "part.json"], { cwd: place });
      await said(/^(?:rope|learned|alibi): +[3-9]\d % .*step \d+\/12000/m);
      child.kill(signal);
      const interrupted = await ended;
      expect(interrupted.status, interrupted.stderr).toBe(130);
      expect(interrupted.stdout).toBe("");
      expect(interrupted.stderr).toMatch(/To go on: poslab extrapolate --resume part\.json --workers 1\n$/);
      const part = JSON.parse(readFileSync(join(place, "part.json"), "utf8")) as ExperimentResult;
      expect(part.runs.length).toBeLessThan(3);
      expect(part.verdict).toMatch(/^Interrupted: \d of 3 runs/);
      expect(
        [...readSafetensors(readFileSync(join(place, "part.state.safetensors"))).tensors.keys()].some((name) =>
          /^run\.\d\.1\./.test(name),
        ),
      ).toBe(true);

      const resumed = await poslab(["extrapolate", "--resume", "part.json", "--json"], { cwd: place });
      expect(resumed.status, resumed.stderr).toBe(0);
      const result = JSON.parse(resumed.stdout) as ExperimentResult;
      expect(numbers(result)).toEqual(numbers(JSON.parse(whole.stdout) as ExperimentResult));
      expect(JSON.parse(readFileSync(join(place, "part.json"), "utf8"))).toEqual(result);
      expect(existsSync(join(place, "part.state.safetensors"))).toBe(false);
    },
    120_000,
  );

  test("without --out it names the file that it makes, and never overwrites one", async () => {
    const place = path("unnamed");
    mkdirSync(place);
    writeFileSync(join(place, "text.txt"), text);
    writeFileSync(join(place, "poslab-interrupted.json"), "mine");
    const { child, ended, said } = startPoslab(words, { cwd: place });
    await said(/step \d{3,}\/12000/);
    child.kill("SIGINT");
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain("poslab extrapolate --resume poslab-interrupted-2.json");
    expect(readFileSync(join(place, "poslab-interrupted.json"), "utf8")).toBe("mine");
    expect(existsSync(join(place, "poslab-interrupted-2.state.safetensors"))).toBe(true);

    // With another text the numbers would mean nothing.
    writeFileSync(join(place, "text.txt"), `${text}!`);
    const other = await poslab(["extrapolate", "--resume", "poslab-interrupted-2.json"], { cwd: place });
    expect({ status: other.status, stderr: other.stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/"text\.txt" is not the one that was trained on/) as string,
    });

    const state = join(place, "poslab-interrupted-2.state.safetensors");
    writeFileSync(join(place, "text.txt"), text);
    writeFileSync(state, readFileSync(state).subarray(0, 100));
    const truncated = await poslab(["extrapolate", "--resume", "poslab-interrupted-2.json"], { cwd: place });
    expect(truncated.status).toBe(2);
    expect(truncated.stderr).toMatch(
      /^poslab: poslab-interrupted-2\.state\.safetensors is not a state that can be resumed: .*\n$/,
    );
  }, 120_000);
});

describe("when something goes wrong", () => {
  test("a diverging run is said to have stopped, the others are kept, and the status is 1", async () => {
    writeFileSync(path("text.txt"), text);
    const { status, stdout, stderr } = await poslab(
      [
        ...["extrapolate", "--encodings", "rope", "--steps", "40", ...tiny, "--corpus", "text.txt"],
        ...["--learning-rate", "1e9", "--set", "training.clip=0", "--out", "diverged.json", "--svg", "diverged.svg"],
      ],
      { cwd: folder },
    );
    expect(status, stderr).toBe(1);
    const [run] = read("diverged.json").runs;
    expect(run!.stopped!.step).toBeLessThan(40);
    expect(stdout).toMatch(/^rope +stopped +stopped$/m);
    expect(stdout).toContain(`rope, seed 1, stopped at step ${run!.stopped!.step}: `);
    expect(readFileSync(path("diverged.svg"), "utf8")).toContain(`seed 1 stopped at step ${run!.stopped!.step}`);
  });

  test("a process that is killed leaves the finished runs in the result, which can be resumed", async () => {
    const place = path("killed");
    mkdirSync(place);
    writeFileSync(join(place, "text.txt"), text);
    const words = ["extrapolate", "--encodings", "rope,none", "--steps", "300", "--corpus", "text.txt", ...tiny];
    const part = join(place, "part.json");
    const { child, ended } = startPoslab([...words, "--workers", "1", "--out", part], { cwd: place });
    while (!existsSync(part) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill("SIGKILL");
    await ended;
    const whole = await poslab(["extrapolate", "--resume", part, "--json"], { cwd: place });
    expect(whole.status, whole.stderr).toBe(0);
    // However fast it was: a run missing and no state is what a killed process leaves at any time.
    const result = JSON.parse(whole.stdout) as ExperimentResult;
    for (const missing of [0, 1]) {
      writeFileSync(part, JSON.stringify({ ...result, runs: result.runs.filter((_, index) => index !== missing) }));
      const resumed = await poslab(["extrapolate", "--resume", part, "--json"], { cwd: place });
      expect(resumed.stderr).toContain("1 of 2 runs are done, 0 half-finished, 1 not begun");
      expect(resumed.stderr).toContain("part.state.safetensors is not there: runs that were half-finished begin anew");
      expect(numbers(JSON.parse(resumed.stdout) as ExperimentResult)).toEqual(numbers(result));
    }
  });

  test("a progress that nobody reads any more does not keep the work from being finished", async () => {
    const out = path("unread.json");
    writeFileSync(path("text.txt"), text);
    const words = ["extrapolate", "--encodings", "rope,none", "--steps", "20", "--corpus", path("text.txt"), ...tiny];
    const { child, ended } = startPoslab([...words, "--out", out]);
    child.stderr.destroy();
    const { status, stdout } = await ended;
    expect(status).toBe(0);
    expect(stdout.trimEnd().endsWith(read("unread.json").verdict)).toBe(true);
  });

  test.each([
    [
      "is too short",
      "abc",
      /^poslab: option '--length': training\.length: 8 was given; at most \d+ with this text.*\n$/,
    ],
    [
      "is not UTF-8",
      Buffer.alloc(4000, 0xff),
      /^poslab: option '--corpus': task\.text must be UTF-8; the bytes at offset 0 are not\n$/,
    ],
  ])("a text that %s is refused", async (_, content, message) => {
    const file = path("odd.txt");
    writeFileSync(file, content);
    const { status, stderr } = await poslab(["extrapolate", "--corpus", file, "--quiet", ...tiny]);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  test("a corpus is refused for a task that has none", async () => {
    const { status, stderr } = await poslab(["extrapolate", "--task", "first", "--corpus", path("text.txt")]);
    expect(stderr).toMatch(/^poslab: option '--corpus': task\.corpus is not known/);
    expect(status).toBe(2);
  });

  test("a folder for weights that cannot be made is refused before anything is trained", async () => {
    writeFileSync(path("a-file"), "");
    const { status, stderr } = await poslab(["extrapolate", "--save", join(path("a-file"), "weights")]);
    expect(stderr).toMatch(/^poslab: option '--save': the folder .* cannot be made: /);
    expect(status).toBe(2);
  });
});

describe("resuming what is no result", () => {
  test.each([
    ["[1, 2]", /is not a result of poslab extrapolate/],
    ['{"experiment": {}, "runs": []}', /is not a result of poslab extrapolate: build/],
    ['{"experiment": {"seeds": []}, "build": {"version": "0", "variant": "simd"}, "runs": []}', /seeds/],
    ['{"experiment": {}, "build": {"version": "0", "variant": "simd"}, "runs": [{"encoding": 77}]}', /runs\.0\./],
  ])("%s is refused", async (content, message) => {
    const file = path("odd.json");
    writeFileSync(file, content);
    const { status, stderr } = await poslab(["extrapolate", "--resume", file]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain("\n");
    expect(status).toBe(2);
  });
});
