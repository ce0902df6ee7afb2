// SPDX-License-Identifier: MIT
// The option --override: what is wrong with one is said before anything is measured or written, with the option's name.

import { type Model, parseOverride, type PositionOverride } from "../js/models.js";
import { isPosLabError, Refusal } from "./failure.js";

/** The override that an option's text means; undefined without the option. */
export function readOverride(text: string | undefined): PositionOverride | undefined {
  return text === undefined ? undefined : named(() => parseOverride(text));
}

/** Refuses an override that this model cannot have. */
export function checkOverride(model: Model, override: PositionOverride | undefined): void {
  if (override) named(() => model.checkOverride(override));
}

function named<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isPosLabError(error) && error.code !== "memory"
      ? new Refusal(`option '--override': ${error.message}`)
      : error;
  }
}
