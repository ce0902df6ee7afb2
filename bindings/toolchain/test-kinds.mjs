// SPDX-License-Identifier: MIT
// The kinds of tests, in the order in which `npm test` runs them. A kind says what it needs of the machine (`setUp`)
// and of the build (`build`), and returns how many tests passed, failed and were skipped; a kind that cannot count its
// tests is one test.

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { buildPreset, wasmEnvironment } from "./build.mjs";
import { Stop, run } from "./commands.mjs";
import { format } from "./format.mjs";
import { buildRoot, nodeModules, packageDescription, packageFolder, projectRoot } from "./locations.mjs";
import { checkSize } from "./package-size.mjs";
import { packPackage } from "./pack.mjs";

const binary = (name) => join(nodeModules, ".bin", name);
// Everywhere, not only in CI: a warning that a developer does not see here is an error there.
const kWarningsAreErrors = ["-DPOSLAB_WERROR=ON"];
const kOnePassed = { passed: 1, failed: 0, skipped: 0 };

/** Runs all bodies, so that one finding does not hide the next; each is one test. */
async function countEach(bodies) {
  let failed = 0;
  for (const body of bodies) {
    try {
      await body();
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      process.stderr.write(`${error.message}\n`);
      failed += 1;
    }
  }
  return { passed: bodies.length - failed, failed, skipped: 0 };
}

/** Runs a program that prints its counts, and reads them whether it succeeds or not. */
async function countOutput(program, programArguments, pattern, options = {}) {
  let text;
  let ended = true;
  try {
    text = await run(program, programArguments, { capture: true, ...options });
  } catch (error) {
    if (error.output === undefined) throw error;
    text = error.output;
    ended = false;
  }
  const found = [...stripVTControlCharacters(text).matchAll(pattern)].at(-1)?.groups;
  if (!found) throw new Stop(`${program} ended without saying how many tests passed.`);
  const counts = { passed: Number(found.passed), failed: Number(found.failed), skipped: Number(found.skipped ?? 0) };
  // A program that counts no failure and still fails (a leak, a crash at exit) is a failure.
  if (!ended && counts.failed === 0) counts.failed = 1;
  return counts;
}

const kDoctestCounts =
  /test cases:\s*\d+\s*\|\s*(?<passed>\d+) passed\s*\|\s*(?<failed>\d+) failed\s*\|\s*(?<skipped>\d+) skipped/g;
const kCheckCounts = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/gm;

const kTestEnvironment = {
  POSLAB_CASES: join(projectRoot, "tests/cases"),
  ASAN_OPTIONS: "detect_leaks=1",
  UBSAN_OPTIONS: "print_stacktrace=1",
};

async function doctest(preset) {
  await buildPreset(preset, { target: ["poslab_tests"], definitions: kWarningsAreErrors });
  // ctest reads the tests from names that CMake must be able to quote: a lone bracket in one breaks them all.
  await run("ctest", ["--preset", preset, "--show-only"], {
    quiet: true,
    capture: true,
    failure: `ctest --preset ${preset} cannot list the tests`,
  });
  const env = { ...process.env, ...kTestEnvironment };
  return countOutput(join(buildRoot, preset, "poslab_tests"), [], kDoctestCounts, { env });
}

async function wasmDoctest() {
  const environment = wasmEnvironment();
  await buildPreset("wasm", { target: ["poslab_tests"], environment });
  const env = { ...process.env, ...kTestEnvironment };
  return countOutput(process.execPath, [join(buildRoot, "wasm/poslab_tests.cjs")], kDoctestCounts, { env });
}

async function vitest(project) {
  const report = join(buildRoot, "reports", `${project}.json`);
  mkdirSync(join(buildRoot, "reports"), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  let ended = true;
  await run(binary("vitest"), ["run", "--project", project, ...reporters]).catch((error) => {
    if (!existsSync(report)) throw error;
    ended = false;
  });
  const counts = JSON.parse(readFileSync(report, "utf8"));
  const failed = counts.numFailedTests;
  // Files that could not be loaded have no failed test in them.
  return {
    passed: counts.numPassedTests,
    failed: ended ? failed : Math.max(failed, 1),
    skipped: counts.numPendingTests + counts.numTodoTests,
    failures: vitestFailures(counts.testResults),
  };
}

/** A line or more for each test, or file, that failed: its name and the start of what it said. */
function vitestFailures(files) {
  return files.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(projectRoot, name);
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return status === "failed" ? [`${file}: ${beginning(message)}`] : [];
    return failed.map((test) => `${file}: ${test.fullName}\n${beginning(test.failureMessages.join("\n"))}`);
  });
}

function beginning(text) {
  return stripVTControlCharacters(text).split("\n").slice(0, 12).join("\n");
}

async function consumer() {
  const folder = join(buildRoot, "consumer");
  rmSync(folder, { recursive: true, force: true });
  const install = join(folder, "install");
  const source = join(projectRoot, "tests/consumer");
  await buildPreset("native", { target: ["poslab"], definitions: kWarningsAreErrors });
  await run("cmake", ["--install", join(buildRoot, "native"), "--prefix", install], { quiet: true });
  const tryOut = (name, definition) => async () => {
    const build = join(folder, name);
    const launcher = "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache";
    await run("cmake", ["-S", source, "-B", build, "-G", "Ninja", launcher, definition], { quiet: true });
    await run("cmake", ["--build", build], { quiet: true });
    await run(join(build, "consumer"), []);
  };
  const projects = await countEach([
    tryOut("find-package", `-DCMAKE_PREFIX_PATH=${install}`),
    tryOut("fetch-content", `-DFETCHCONTENT_SOURCE_DIR_POSLAB=${projectRoot}`),
  ]);
  // The programs that the page offers, compiled against the installed library.
  const programs = await vitest("consumer");
  const sum = (name) => projects[name] + programs[name];
  return { ...programs, passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

async function publishable() {
  const tarball = await packPackage();
  const withoutTypes = Object.keys(packageDescription().exports).filter((path) => path.endsWith(".wasm"));
  return countEach([
    () => run(binary("publint"), ["--strict", tarball]),
    () => run(binary("attw"), [tarball, "--profile", "esm-only", "--exclude-entrypoints", ...withoutTypes]),
  ]);
}

async function cases(folder) {
  if (!existsSync(folder)) return { passed: 0, failed: 0, skipped: 1, note: `${folder} is not here` };
  return countOutput(process.execPath, [join(packageFolder, "cli/main.js"), "check", folder], kCheckCounts);
}

const kPackage = ["wasm", "corpora", "package"];
const kEverything = [...kPackage, "site"];

export const kinds = [
  {
    name: "lint",
    what: "layout (clang-format, Prettier) and lint rules (ESLint)",
    setUp: ["format", "npm"],
    run: () => countEach([() => format([], { check: true }), () => run(binary("eslint"), ["."])]),
  },
  {
    name: "types",
    what: "TypeScript of the package, the command, the tests and the page",
    setUp: ["native", "emscripten", "npm"],
    build: ["wasm"],
    run: () =>
      countEach([
        () => run(binary("tsc"), ["--noEmit"]),
        () => run(binary("svelte-check"), ["--tsconfig", "web/tsconfig.json", "--fail-on-warnings"]),
      ]),
  },
  { name: "native", what: "doctest, natively (Release)", setUp: ["native"], run: () => doctest("native") },
  {
    name: "sanitize",
    what: "doctest under AddressSanitizer and UBSan",
    setUp: ["native"],
    run: () => doctest("sanitize"),
  },
  { name: "scalar", what: "doctest with the kernels as plain C++", setUp: ["native"], run: () => doctest("scalar") },
  {
    name: "wasm",
    what: "the same doctest program as WebAssembly in Node",
    setUp: ["native", "emscripten", "npm"],
    run: wasmDoctest,
  },
  {
    name: "consumer",
    what: "a C++ project that finds the installed library, one that fetches it, and the page's C++ programs",
    build: ["wasm"],
    run: consumer,
  },
  {
    name: "build",
    what: "npm run build: module, package, texts, site",
    setUp: ["native", "emscripten", "poems", "npm"],
    build: kEverything,
    run: async () => kOnePassed,
  },
  { name: "size", what: "the package within its budget", build: kPackage, run: checkSize },
  { name: "publish", what: "publint and attw on the packed package", build: kPackage, run: publishable },
  {
    name: "package",
    what: "Vitest: the package, the command, the packed package in an empty folder",
    build: kPackage,
    run: () => vitest("package"),
  },
  { name: "page", what: "Vitest: functions of the page", build: ["wasm"], run: () => vitest("page") },
  {
    name: "cases",
    what: "poslab check tests/cases",
    build: kPackage,
    run: () => cases("tests/cases"),
  },
  {
    name: "shared-cases",
    what: "poslab check ../shared/cases, where that folder is",
    build: kPackage,
    run: () => cases("../shared/cases"),
  },
  {
    name: "browser",
    what: "the built site in Chromium",
    setUp: ["native", "emscripten", "poems", "npm", "browser"],
    build: kEverything,
    run: () => vitest("browser"),
  },
];
