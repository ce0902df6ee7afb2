// SPDX-License-Identifier: MIT
// Names of weight files: encoding, trained length and seed, in letters that every file system takes, each name once.

import { encodingLabel } from "../js/experiment.js";
import type { CompleteExperiment } from "../js/types.js";

/** "rope-theta-500-length64-seed1.safetensors"; an encoding whose name is taken gets its number in front of "-length". */
export function weightFileNames(experiment: CompleteExperiment): (run: { encoding: number; seed: number }) => string {
  const taken = new Set<string>();
  const names = experiment.encodings.map((encoding, index) => {
    const plain = encodingLabel(encoding)
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}.]+/gu, "-")
      .replace(/^[-.]+|[-.]+$/g, "")
      .slice(0, 60);
    let name = plain || encoding.type;
    if (taken.has(name)) name = `${name}-${index}`;
    taken.add(name);
    return name;
  });
  return ({ encoding, seed }) => `${names[encoding]}-length${experiment.training.length}-seed${seed}.safetensors`;
}
