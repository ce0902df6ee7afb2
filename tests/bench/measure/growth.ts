// SPDX-License-Identifier: MIT
// Cost against length: time and memory of every scheme, forward and backward, causal, each in a module of its own whose
// memory grows page by page, so that its size is the peak of what was needed.

import { makeAttention, must, shapeOf } from "./kernels.js";
import { schemesOf, type Bench, type Growth } from "./place.js";
import { fitExponent, spreadOf } from "./statistics.js";

const kLengths = [128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const kQuickLengths = [256, 512, 1024];
/** Below this the memory that every call needs anyhow (stack, tiles) is a good part of all. */
const kFitFrom = 512;
/** Medians of seven, then single runs: the last length takes half a minute a scheme. */
const kSamples = (length: number): number => (length <= 1024 ? 7 : 1);
/** Up to here the first run, for which the engine still compiles, is left out. */
const kWarmUpTo = 2048;
/** A length is left out when the one before says that it would take longer. */
const kLongestMilliseconds = 45_000;
const kQuickSamples = 1;
/** The goal: inputs, outputs, gradients, 2 MiB and three tables as large as one head's queries. */
const kFree = 2 << 20;
const kTables = 3;

type Direction = Growth["direction"];
type Point = Growth["points"][number];

export async function measureGrowth(bench: Bench): Promise<Growth[]> {
  const growth: Growth[] = [];
  for (const scheme of schemesOf(bench)) {
    bench.place.say(`time and memory against length, ${scheme}`);
    growth.push(...(await growthOf(bench, scheme)));
  }
  return growth;
}

async function growthOf(bench: Bench, scheme: string): Promise<Growth[]> {
  const points: Record<Direction, Point[]> = { forward: [], backward: [] };
  let failure: string | undefined;
  try {
    for (const length of bench.quick ? kQuickLengths : kLengths) {
      if (expected(points, length) > kLongestMilliseconds) {
        failure = `L = ${length} would take too long`;
        break;
      }
      const point = await measureLength(bench, scheme, length);
      points.forward.push(point.forward);
      points.backward.push(point.backward);
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  return (["forward", "backward"] as const).map((direction) => ({
    engine: bench.place.engine,
    scheme,
    direction,
    ...summed(points[direction]),
    ...(failure === undefined ? {} : { failure }),
  }));
}

/** Twice forward and once backward, growing with the square of the length. */
function expected({ forward, backward }: Record<Direction, Point[]>, length: number): number {
  const last = forward.at(-1);
  if (!last) return 0;
  return (2 * last.milliseconds + backward.at(-1)!.milliseconds) * (length / last.length) ** 2;
}

function summed(points: Point[]): Omit<Growth, "engine" | "scheme" | "direction"> {
  const fitted = points.filter(({ length }) => length >= kFitFrom);
  const last = points.at(-1);
  const head = (last?.length ?? 0) * 64 * 4;
  return {
    points,
    timeExponent: fitExponent(fitted.map(({ length, milliseconds }) => ({ x: length, y: milliseconds }))),
    memoryExponent: fitExponent(fitted.map(({ length, bytes }) => ({ x: length, y: bytes }))),
    beyond: last ? last.bytes - last.given : 0,
    allowed: kFree + kTables * head,
  };
}

async function measureLength(bench: Bench, scheme: string, length: number): Promise<Record<Direction, Point>> {
  const kernels = await bench.place.kernels("simd");
  const size = (): number => kernels.HEAPU8.length;
  const base = size();
  const attention = makeAttention(kernels, scheme, shapeOf(length, true));
  const samples = bench.quick ? kQuickSamples : kSamples(length);
  const time = (run: () => string): number => {
    const times: number[] = [];
    if (length <= kWarmUpTo) must(run());
    while (times.length < samples) {
      const started = performance.now();
      must(run());
      times.push(performance.now() - started);
    }
    return spreadOf(times).median;
  };
  const point = (milliseconds: number, given: number): Point => ({ length, milliseconds, bytes: size() - base, given });
  const forward = point(
    time(() => attention.forward()),
    attention.forwardBytes(),
  );
  must(attention.prepareBackward());
  const milliseconds = time(() => attention.backward());
  must(attention.pull());
  const backward = point(milliseconds, attention.backwardBytes());
  attention.delete();
  return { forward, backward };
}
