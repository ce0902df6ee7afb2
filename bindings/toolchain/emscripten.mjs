// SPDX-License-Identifier: MIT
// Finds an Emscripten that is new enough, or brings one: from the distribution's own package where that is new enough
// (Debian 13), else on Debian 12 by unpacking Debian 13's into the user's cache over Debian 12's LLVM 19, without
// touching the system's sources. Anywhere else it stops and names emsdk.

import {
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  existsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Stop, compareVersions, findProgram, output, run, say } from "./commands.mjs";
import { aptCandidate, aptInstall, aptSystem, aptUpdate } from "./system-packages.mjs";
import { downloadFromSuite } from "./foreign-suite.mjs";
import { emscriptenPrefix } from "./locations.mjs";
import { withLock } from "./lock.mjs";

export const kMinimumVersion = "3.1.60";

/** What is assembled on Debian 12: Emscripten of `suite`, which needs LLVM of exactly this major version. */
const kAssembled = { version: "3.1.69", suite: "trixie", llvm: 19 };

/**
 * An Emscripten that is ready, or null. `root` is the folder with emcc in it, `environment` what has to be set for it.
 */
export function findEmscripten() {
  const onPath = findProgram("emcc");
  if (onPath) {
    const version = versionOf(onPath);
    if (version && compareVersions(version, kMinimumVersion) >= 0) {
      const root = output(join(dirname(onPath), "em-config"), ["EMSCRIPTEN_ROOT"]) || dirname(realpathSync(onPath));
      return { root, version, source: onPath, environment: {} };
    }
  }
  const prefix = emscriptenPrefix(kAssembled.version);
  if (!existsSync(join(prefix, "complete"))) return null;
  return {
    root: join(prefix, "usr/share/emscripten"),
    version: kAssembled.version,
    source: prefix,
    environment: { EM_CONFIG: join(prefix, "emscripten.config") },
  };
}

function versionOf(emcc) {
  return /emcc .*? (\d+\.\d+\.\d+)/.exec(output(emcc, ["--version"]) ?? "")?.[1] ?? null;
}

/** Makes sure that there is one, and returns it. */
export async function provideEmscripten() {
  const ready = findEmscripten();
  if (ready) return ready;
  const old = findProgram("emcc");
  if (old)
    say(
      `${old} is Emscripten ${versionOf(old) ?? "of an unknown version"}, and ${kMinimumVersion} or newer is needed.`,
    );

  const system = aptSystem();
  if (!system) throw emsdkNeeded("this system is not one for which the set-up knows a package");
  // A container image may come without apt's lists.
  if (!aptCandidate("emscripten")) await aptUpdate();
  const candidate = aptCandidate("emscripten")?.match(/^(?:\d+:)?(\d+\.\d+\.\d+)/)?.[1];
  if (candidate && compareVersions(candidate, kMinimumVersion) >= 0) {
    say(`To be installed with apt-get:\n  emscripten        ${candidate}, compiles the core to WebAssembly`);
    await aptInstall(["emscripten"]);
  } else if (system.id === "debian" && system.codename === "bookworm") {
    await withLock("emscripten", () => assemble(system.codename));
  } else {
    throw emsdkNeeded(`${system.name} offers Emscripten ${candidate ?? "in no version"}`);
  }
  const installed = findEmscripten();
  if (!installed) throw new Stop("Emscripten was installed, and still no emcc answers that is new enough.");
  return installed;
}

function emsdkNeeded(reason) {
  return new Stop(
    [
      `an Emscripten of version ${kMinimumVersion} or newer is needed to compile the core to WebAssembly; ${reason}.`,
      "Install it with emsdk (its README: https://emscripten.org/docs/getting_started/downloads.html):",
      "  ./emsdk install 3.1.69 && ./emsdk activate 3.1.69 && source ./emsdk_env.sh",
      "and run the same command again in that shell: an emcc on the PATH is taken as it is.",
    ].join("\n"),
  );
}

/** Debian 12: see the table in the head comment. Built beside its place and renamed, so half of one is never found. */
async function assemble(codename) {
  const prefix = emscriptenPrefix(kAssembled.version);
  if (existsSync(join(prefix, "complete"))) return; // another set-up made it while this one waited
  const compiler = ["clang", "lld", "llvm"].map((name) => `${name}-${kAssembled.llvm}`);
  say(
    [
      `Debian 12's own Emscripten is from 2022 and too old. To be installed with apt-get:`,
      `  ${compiler.join(" ")}: the compiler that Emscripten drives`,
      `To be unpacked into ${prefix} (1.7 GB), the system itself unchanged:`,
      `  Emscripten ${kAssembled.version}, Binaryen and the C library they were linked with, from Debian 13`,
    ].join("\n"),
  );
  await aptInstall(compiler);

  const part = `${prefix}.part`;
  rmSync(part, { recursive: true, force: true });
  const debs = await downloadFromSuite({
    from: codename,
    to: kAssembled.suite,
    names: ["emscripten", "binaryen", "libc6", "libstdc++6", "libgcc-s1", "node-acorn"],
    folder: join(part, "download"),
  });
  for (const deb of debs) {
    await run("dpkg", ["-x", deb, part], { failure: `${deb} could not be unpacked; is the disk full?` });
  }
  rmSync(join(part, "download"), { recursive: true, force: true });
  wrapBinaryen(part);
  linkAcorn(part);
  writeFileSync(
    join(part, "emscripten.config"),
    [
      "import os",
      "prefix = os.path.dirname(os.path.abspath(os.environ['EM_CONFIG']))",
      `LLVM_ROOT = '/usr/lib/llvm-${kAssembled.llvm}/bin'`,
      "BINARYEN_ROOT = os.path.join(prefix, 'binaryen')",
      "NODE_JS = 'node'",
      "# Debian compiled the system libraries already; they lie beside Emscripten.",
      "FROZEN_CACHE = True",
      "",
    ].join("\n"),
  );
  writeFileSync(join(part, "complete"), "");
  rmSync(prefix, { recursive: true, force: true });
  renameSync(part, prefix);
}

/** Binaryen was linked with a newer C library than the system's: start it through the unpacked loader. */
function wrapBinaryen(prefix) {
  const triplet = readdirSync(join(prefix, "usr/lib")).find((name) => name.endsWith("-linux-gnu"));
  const loader = triplet && readdirSync(join(prefix, "usr/lib", triplet)).find((name) => name.startsWith("ld-linux"));
  if (!loader)
    throw new Stop("the unpacked C library has no loader where one was expected; this processor was not tried.");
  const bin = join(prefix, "binaryen/bin");
  mkdirSync(bin, { recursive: true });
  for (const name of readdirSync(join(prefix, "usr/bin")).filter((file) => file.startsWith("wasm"))) {
    if (!statSync(join(prefix, "usr/bin", name)).isFile()) continue;
    const libraries = `"$root/usr/lib/${triplet}"`;
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nroot=$(dirname "$0")/../..\nexec "$root/usr/lib/${triplet}/${loader}" --library-path ${libraries} "$root/usr/bin/${name}" "$@"\n`,
      { mode: 0o755 },
    );
  }
}

/** Emscripten's optimiser imports acorn as an ES module, for which only a node_modules beside it helps. */
function linkAcorn(prefix) {
  const modules = join(prefix, "usr/share/emscripten/node_modules");
  mkdirSync(modules, { recursive: true });
  rmSync(join(modules, "acorn"), { recursive: true, force: true });
  symlinkSync("../../nodejs/acorn", join(modules, "acorn"));
}
