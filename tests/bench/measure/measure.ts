// SPDX-License-Identifier: MIT
// Everything that is measured in one place, in order.

import { measureAttention } from "./attention.js";
import { measureGrowth } from "./growth.js";
import type { Kernels } from "./kernels.js";
import { limitOf } from "./limits.js";
import type { Bench, Measurements, Place, Plan, Variant } from "./place.js";
import { measurePosition } from "./position.js";
import type { TimingOptions } from "./timing.js";
import { measureTraining } from "./training.js";

const kTiming: TimingOptions = { rounds: 7, sampleMilliseconds: 20 };

export async function measure(place: Place, plan: Plan): Promise<Measurements> {
  const kernels = new Map<Variant, Kernels>();
  for (const variant of place.variants) kernels.set(variant, await place.kernels(variant));
  const needsPeers = plan.topics.some((topic) => ["attention", "position", "training"].includes(topic));
  const limits = [...kernels].map(([variant, instance]) => limitOf(instance, variant));
  const bench: Bench = {
    place,
    quick: plan.quick,
    timing: kTiming,
    kernels,
    peers: needsPeers ? await place.peers() : [],
    failures: [],
    limits: () => limits,
  };
  const result: Measurements = { tables: [], growth: [], failures: bench.failures };
  if (plan.topics.includes("attention")) result.tables.push(...(await measureAttention(bench)));
  if (plan.topics.includes("position")) result.tables.push(...(await measurePosition(bench)));
  if (plan.topics.includes("training")) result.tables.push(...(await measureTraining(bench)));
  if (plan.topics.includes("memory")) result.growth.push(...(await measureGrowth(bench)));
  return result;
}
