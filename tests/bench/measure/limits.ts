// SPDX-License-Identifier: MIT
// The register-only limit of an engine: as many chains of multiply-adds as it keeps in registers best.

import type { Kernels } from "./kernels.js";
import type { Variant } from "./place.js";
import type { Subject } from "./timing.js";

const kTrialRounds = 1e6;
const kTries = 5;
const kMilliseconds = 10;

/** A subject of about ten milliseconds with the best number of chains. */
export function limitOf(kernels: Kernels, variant: Variant): Subject {
  let best = { chains: 0, rounds: 0, rate: 0 };
  for (const chains of kernels.chainCounts()) {
    for (let n = 0; n < kTries; n += 1) {
      const started = performance.now();
      kernels.multiplyAdds(chains, kTrialRounds);
      const milliseconds = performance.now() - started;
      const rate = (chains * kTrialRounds) / milliseconds;
      if (rate > best.rate) best = { chains, rounds: Math.ceil((kTrialRounds * kMilliseconds) / milliseconds), rate };
    }
  }
  const { chains, rounds } = best;
  return {
    name: `limit, ${variant === "simd" ? "SIMD" : "relaxed SIMD"}`,
    kind: "limit",
    contains: `multiply-adds in registers, ${chains} chains`,
    run: () => kernels.multiplyAdds(chains, rounds),
    work: 8 * chains * rounds,
    variant,
  };
}
