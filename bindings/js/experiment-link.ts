// SPDX-License-Identifier: MIT
// Experiments in share links: only what differs from the defaults goes out. A link may come from another version, so on
// the way in what is not known or not allowed is dropped with a notice instead of being an error.

import { PosLabError } from "./errors.js";
import { completeExperiment } from "./experiment.js";
import type { CompleteExperiment, Experiment } from "./types.js";

type Json = Record<string, unknown>;

/** The smallest object that `completeExperiment` turns into the same experiment: `{}` for the built-in one. */
export function differencesFromDefaults(experiment: Experiment | CompleteExperiment): Experiment {
  const goal = JSON.stringify(completeExperiment(experiment));
  let kept = structuredClone(experiment) as Json;
  const isSame = (candidate: Json): boolean => {
    try {
      return JSON.stringify(completeExperiment(candidate)) === goal;
    } catch {
      return false;
    }
  };
  // Whole branches first, then single fields; lists stand or fall as a whole.
  for (const depth of [1, 2]) {
    for (const path of pathsOf(kept, depth)) {
      const candidate = withoutPath(kept, path);
      if (isSame(candidate)) kept = candidate;
    }
  }
  return kept as Experiment;
}

function pathsOf(object: Json, depth: number): string[][] {
  return Object.entries(object).flatMap(([key, value]) => {
    if (depth === 1) return [[key]];
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((inner) => [key, inner])
      : [];
  });
}

function withoutPath(object: Json, path: readonly (string | number)[]): Json {
  const copy = structuredClone(object);
  let at: unknown = copy;
  for (const key of path.slice(0, -1)) at = (at as Json)[key];
  const last = path[path.length - 1]!;
  if (Array.isArray(at)) at.splice(Number(last), 1);
  else if (typeof at === "object" && at !== null) delete (at as Json)[last];
  return copy;
}

/** What was dropped from a link: where it stood and the message that it would have been as an error. */
export interface LinkNotice {
  path: string;
  message: string;
}

/**
 * An experiment from a link: what is not known or not allowed is dropped, with a notice each.
 * @param check further checks, such as `lab.checkExperiment`, whose errors are treated the same way
 */
export function experimentFromLink(
  json: unknown,
  check: (experiment: CompleteExperiment) => void = () => {},
): { experiment: CompleteExperiment; notices: LinkNotice[] } {
  const notices: LinkNotice[] = [];
  let candidate = copyOf(json);
  if (!candidate) {
    notices.push({ path: "", message: "the link holds no experiment; the built-in one is shown" });
    candidate = {};
  }
  for (;;) {
    try {
      const experiment = completeExperiment(candidate);
      check(experiment);
      return { experiment, notices };
    } catch (error) {
      if (!(error instanceof PosLabError)) throw error;
      const path = keysOf(error.argument ?? "");
      const present = longestPresent(candidate, path);
      notices.push({ path: error.argument ?? "", message: error.message });
      // What cannot be mended by leaving a field out is mended by leaving everything out.
      candidate = present.length > 0 ? withoutPath(candidate, removable(candidate, present)) : {};
      if (present.length === 0 && notices.length > 1 && notices[notices.length - 2]!.path === (error.argument ?? ""))
        throw error;
    }
  }
}

/** No experiment is nested deeper; copying what is would overflow the stack. */
const deepest = 32;

/** A copy that may be changed; null for what is no object, or nested too deeply. */
function copyOf(json: unknown): Json | null {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return null;
  let level: unknown[] = [json];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return null;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return structuredClone(json) as Json;
}

function keysOf(argument: string): (string | number)[] {
  return [...argument.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
    index === undefined ? name! : Number(index),
  );
}

/** The part of a path that exists in an object. */
function longestPresent(object: Json, path: readonly (string | number)[]): (string | number)[] {
  const present: (string | number)[] = [];
  let at: unknown = object;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) break;
    present.push(key);
    at = (at as Json)[key];
  }
  return present;
}

/** A change at test time or an encoding without its essential field makes no sense: the whole entry goes. */
function removable(object: Json, path: (string | number)[]): (string | number)[] {
  const last = path[path.length - 1];
  if (path[0] === "atTest" && path.length > 2 && last === "of") return path.slice(0, 2);
  if (last === "type" && path.length > 1) return path.slice(0, -1);
  if (path[0] === "encodings" && path.length === 2 && (object.encodings as unknown[]).length === 1)
    return ["encodings"];
  return path;
}
