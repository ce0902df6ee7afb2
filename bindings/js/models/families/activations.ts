// SPDX-License-Identifier: MIT
// Names of activations as configs write them, to the core's.

import type { ActivationName } from "../model-description.js";
import type { Config } from "./config.js";
import { named } from "../../named.js";

const names: Record<string, ActivationName> = {
  gelu: "gelu-erf",
  gelu_python: "gelu-erf",
  gelu_new: "gelu-tanh",
  gelu_fast: "gelu-tanh",
  gelu_pytorch_tanh: "gelu-tanh",
  quick_gelu: "gelu-quick",
  relu: "relu",
  relu2: "relu-squared",
  silu: "silu",
  swish: "silu",
};

/** The activation in the first of the fields that is there. */
export function activationOf(config: Config, fallback: keyof typeof names, ...fields: string[]): ActivationName {
  return activationNamed(config.text(fallback, ...fields), config, fields);
}

export function activationNamed(name: string, config: Config, fields: readonly string[]): ActivationName {
  const known = named(names, name);
  config.refuse(!known, fields.find((field) => config.value(field) !== undefined) ?? "", Object.keys(names).join(", "));
  return known!;
}
