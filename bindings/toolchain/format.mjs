// SPDX-License-Identifier: MIT
// Lays out the sources: clang-format for C++, Prettier for the rest. Files or folders can be named; without any it is
// the whole project. "--check" only reports, and is what the tests run.

import { join } from "node:path";
import { Stop, findProgram, isMain, main, output, run } from "./commands.mjs";
import { nodeModules } from "./locations.mjs";

const kCppFiles = /\.(cpp|h)$/;
const kPrettierFiles = /\.(ts|mts|js|mjs|svelte|css|html|json)$/;
/** Layouts differ between versions: one is used everywhere. */
const kClangFormat = "clang-format-19";

/** Runs both formatters over what git tracks or would track below `paths`. */
export async function format(paths, { check }) {
  const listing = output("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ...paths]);
  if (listing === null) throw new Stop("the list of files comes from git, and this is not a clone of the project.");
  const deleted = new Set((output("git", ["ls-files", "--deleted", "-z"]) ?? "").split("\0"));
  const files = listing.split("\0").filter((file) => file !== "" && !deleted.has(file));

  const failures = [];
  const attempt = (body) => body().catch((error) => failures.push(error.message));
  const cpp = files.filter((file) => kCppFiles.test(file));
  if (cpp.length > 0) {
    if (!findProgram(kClangFormat))
      throw new Stop(`${kClangFormat} is not installed; node bindings/toolchain/setup.mjs --test brings it.`);
    await attempt(() =>
      run(kClangFormat, [...(check ? ["--dry-run", "--Werror", "--ferror-limit=1"] : ["-i"]), ...cpp], {
        failure: "C++ files are not laid out as clang-format does it",
      }),
    );
  }
  const others = files.filter((file) => kPrettierFiles.test(file));
  if (others.length > 0) {
    await attempt(() =>
      run(join(nodeModules, ".bin/prettier"), [check ? "--check" : "--write", "--log-level=warn", ...others], {
        failure: "files are not laid out as Prettier does it",
      }),
    );
  }
  if (failures.length > 0) throw new Stop(`${failures.join("; ")}: npm run format`);
}

if (isMain(import.meta.url)) {
  await main((options) =>
    format(
      options.filter((option) => option !== "--check"),
      { check: options.includes("--check") },
    ),
  );
}
