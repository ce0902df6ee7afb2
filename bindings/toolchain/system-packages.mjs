// SPDX-License-Identifier: MIT
// What the operating system has to provide, and how it is installed on Debian and Ubuntu. Each entry says why it is
// needed, because that sentence is shown before anything is installed; what is already there is left alone.

import { existsSync, readFileSync } from "node:fs";
import { Stop, compareVersions, findProgram, output, run, say } from "./commands.mjs";

const kMinimumCmake = "3.25";

const program =
  (...names) =>
  () =>
    names.some((name) => findProgram(name) !== null);
const header = (path) => () =>
  ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].some((root) => existsSync(`${root}/${path}`));

/** Needed for anything to be compiled. */
export const buildPackages = [
  { name: "g++", why: "compiles the core natively, for its tests", present: program("c++", "g++", "clang++") },
  { name: "cmake", why: "describes the native and the WebAssembly build", present: program("cmake") },
  { name: "ninja-build", why: "runs the build", present: program("ninja") },
  { name: "ccache", why: "keeps compiled files, so that a second build is quick", present: program("ccache") },
  { name: "python3", why: "Emscripten is written in it", present: program("python3") },
  { name: "doctest-dev", why: "the C++ test framework", present: header("doctest/doctest.h") },
  { name: "libsimde-dev", why: "maps WebAssembly SIMD to this processor's", present: header("simde/wasm/simd128.h") },
];

/** Browsers that the tests know how to start; the first one found is taken. */
export const kBrowsers = ["chromium", "chromium-browser", "google-chrome"];
export const browserPackages = [
  { name: "chromium", why: "the browser tests run in it", present: program(...kBrowsers) },
];

export const benchPackages = [
  { name: "libbenchmark-dev", why: "times the core natively", present: header("benchmark/benchmark.h") },
];

export const formatPackages = [
  { name: "clang-format-19", why: "checks the layout of the C++ sources", present: program("clang-format-19") },
];

/** { id, codename, name } of a system with apt; null elsewhere. */
export function aptSystem() {
  if (process.platform !== "linux" || !findProgram("apt-get") || !findProgram("dpkg-query")) return null;
  const fields = {};
  for (const line of readFileSync("/etc/os-release", "utf8").split("\n")) {
    const match = /^(\w+)=(?:"(.*)"|(.*))$/.exec(line);
    if (match) fields[match[1]] = match[2] ?? match[3];
  }
  return {
    id: fields.ID ?? "",
    codename: fields.VERSION_CODENAME ?? "",
    name: fields.PRETTY_NAME ?? fields.ID ?? "unknown",
  };
}

/** The version of a package that apt would install here, or null. */
export function aptCandidate(name) {
  const match = /^\s*Candidate: (\S+)$/m.exec(
    output("apt-cache", ["policy", name], { env: { ...process.env, LC_ALL: "C" } }) ?? "",
  );
  return match && match[1] !== "(none)" ? match[1] : null;
}

/** Refreshes apt's lists where that is permitted: a stale list is the usual reason for a failed download. */
export async function aptUpdate() {
  if (!mayBecomeRoot()) return;
  await run(...asRoot("apt-get", ["update", "-qq"]), {
    failure:
      "apt-get update failed: is this machine connected, and are its apt sources right? Nothing was changed; run the same command again.",
  });
}

/** Installs what is missing of `packages`, after saying what and why. */
export async function installMissing(packages) {
  const missing = packages.filter((entry) => !entry.present());
  if (missing.length > 0) {
    if (!aptSystem()) throw unknownSystem(missing);
    say("To be installed with apt-get:");
    for (const entry of missing) say(`  ${entry.name.padEnd(18)}${entry.why}`);
    await aptInstall(missing.map((entry) => entry.name));
    const still = missing.filter((entry) => !entry.present());
    if (still.length > 0)
      throw new Stop(`installed, but not found afterwards: ${still.map((entry) => entry.name).join(", ")}`);
  }
}

export async function aptInstall(names) {
  if (!mayBecomeRoot()) {
    throw new Stop(
      `installing needs root, and there is no sudo here. As root:\n  apt-get update && apt-get install ${names.join(" ")}\nthen this command again.`,
    );
  }
  await aptUpdate();
  await run(...asRoot("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names]), {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    quiet: true,
    failure: `apt-get could not install ${names.join(" ")} (its message is above). Nothing half-done is kept: run the same command again once it can.`,
  });
}

function mayBecomeRoot() {
  return process.getuid() === 0 || findProgram("sudo") !== null;
}

function asRoot(name, commandArguments) {
  if (process.getuid() === 0) return [name, commandArguments];
  say(`(asking sudo for: ${name} ${commandArguments.join(" ")})`);
  return ["sudo", ["env", "DEBIAN_FRONTEND=noninteractive", name, ...commandArguments]];
}

function unknownSystem(missing) {
  return new Stop(
    [
      "this system has no apt, so nothing can be installed for you. Needed and not found:",
      ...missing.map((entry) => `  ${entry.name.padEnd(18)}${entry.why}`),
      `Also needed: CMake ${kMinimumCmake} or newer, a C++20 compiler (GCC 12, clang 14 or newer), and Emscripten 3.1.60 or newer`,
      "(emsdk: ./emsdk install 3.1.69 && ./emsdk activate 3.1.69 && source ./emsdk_env.sh).",
      "On macOS: brew install cmake ninja ccache doctest simde emscripten.",
    ].join("\n"),
  );
}

export function checkCmake() {
  const version = /version (\d+(?:\.\d+)+)/.exec(output("cmake", ["--version"]) ?? "")?.[1];
  if (!version || compareVersions(version, kMinimumCmake) < 0) {
    throw new Stop(
      `CMake ${kMinimumCmake} or newer is needed, and ${version ? `${version} is what is here` : "none answers"}.`,
    );
  }
}
