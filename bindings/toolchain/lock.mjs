// SPDX-License-Identifier: MIT
// One set-up or build at a time: a folder in the user's cache that names the process holding it. A lock left by a process that
// is gone (power cut, kill -9) is taken over.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { cacheRoot } from "./locations.mjs";
import { Stop, say } from "./commands.mjs";

const kPollMilliseconds = 500;
const kOwnerGraceMilliseconds = 5000;

/** Runs `body` while holding the lock `name`; waits when another process has it. */
export async function withLock(name, body) {
  const folder = join(cacheRoot, `${name}.lock`);
  await acquire(folder);
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", release);
  const interrupted = (signal) => {
    release();
    process.exit(signal === "SIGINT" ? 130 : 143);
  };
  process.once("SIGINT", interrupted);
  process.once("SIGTERM", interrupted);
  try {
    return await body();
  } finally {
    process.off("exit", release);
    process.off("SIGINT", interrupted);
    process.off("SIGTERM", interrupted);
    release();
  }
}

async function acquire(folder) {
  let told = false;
  let ownerless = 0;
  for (;;) {
    try {
      mkdirSync(cacheRoot, { recursive: true });
      mkdirSync(folder);
      writeFileSync(join(folder, "owner"), `${process.pid}\n`);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") {
        throw new Stop(
          `the cache folder ${cacheRoot} cannot be written (${error.code}); set XDG_CACHE_HOME to one that can`,
        );
      }
    }
    const owner = readOwner(folder);
    // The owner's file is written just after the folder: give it a moment before calling the lock abandoned.
    ownerless = owner === null ? ownerless + kPollMilliseconds : 0;
    if ((owner !== null && !isAlive(owner)) || ownerless > kOwnerGraceMilliseconds) {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (!told) say(`Another process${owner ? ` (${owner})` : ""} is at work on this; waiting for it.`);
    told = true;
    await sleep(kPollMilliseconds);
  }
}

function readOwner(folder) {
  try {
    return Number(readFileSync(join(folder, "owner"), "utf8")) || null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
