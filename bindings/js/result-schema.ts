// SPDX-License-Identifier: MIT
// The shape of a result file, which comes from outside: the experiment in it is checked by `completeExperiment`.

import * as v from "valibot";

const length = v.looseObject({ length: v.number(), loss: v.nullable(v.number()), lossAtEnd: v.nullable(v.number()) });
const run = v.looseObject({
  encoding: v.pipe(v.number(), v.integer(), v.minValue(0)),
  seed: v.pipe(v.number(), v.integer(), v.minValue(0)),
  parameters: v.number(),
  steps: v.number(),
  seconds: v.number(),
  tokensPerSecond: v.number(),
  training: v.array(v.tuple([v.number(), v.nullable(v.number())])),
  byLength: v.array(length),
  byPosition: v.looseObject({ binWidth: v.number(), loss: v.array(v.nullable(v.number())) }),
  atTest: v.array(v.looseObject({ entry: v.number(), byLength: v.array(length) })),
});
export const resultSchema = v.looseObject({
  experiment: v.looseObject({}),
  build: v.looseObject({ version: v.string(), variant: v.string() }),
  runs: v.array(run),
});
