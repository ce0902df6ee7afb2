// SPDX-License-Identifier: MIT
// Mean loss of the token at each place of a window, over windows of a text: where a model stops following.

import { PosLabError, wrongArgument } from "../errors.js";
import { nextTurn } from "../slices.js";
import { throwIfAborted } from "../byte-source.js";
import type { ModelCalls } from "./model-description.js";

export interface LossOptions {
  /** tokens in a window; default: the trained length, or the whole text when that is shorter */ window?: number;
  /** from the beginning of a window to that of the next; default: the window */ stride?: number;
  /** at most so many windows; default: all */ windows?: number;
  signal?: AbortSignal;
  onProgress?: (progress: { window: number; windows: number }) => void;
}

export interface LossByPosition {
  window: number;
  stride: number;
  /** windows measured */ windows: number;
  /** predictions measured */ tokens: number;
  /** nats a token, over all predictions */ loss: number;
  /** its standard error over the windows; NaN with fewer than two */ lossError: number;
  /** exp(loss) */ perplexity: number;
  /** [window - 1]: the mean loss of the token at place p + 1, given those up to p */ byPosition: Float64Array;
}

/** Cuts `ids` into whole windows (one shorter one if there is no whole one) and measures each. */
export async function measureLosses(
  model: Pick<ModelCalls, "losses">,
  ids: Int32Array,
  trainedLength: number,
  options: LossOptions,
): Promise<LossByPosition> {
  const window = Math.min(options.window ?? (trainedLength || ids.length), ids.length);
  const stride = options.stride ?? window;
  for (const [name, value] of Object.entries({ window: options.window ?? 2, stride, windows: options.windows ?? 1 }))
    if (!Number.isSafeInteger(value) || value < (name === "window" ? 2 : 1))
      throw wrongArgument("range", name, value, `a whole number, ${name === "window" ? 2 : 1} or larger,`);
  if (ids.length < 2)
    throw new PosLabError("shape", `the text has ${ids.length} tokens; at least 2 are needed`, { argument: "ids" });
  const windows = Math.min(options.windows ?? Infinity, 1 + Math.floor((ids.length - window) / stride));
  const byPosition = new Float64Array(window - 1);
  const means: number[] = [];
  for (let index = 0; index < windows; index += 1) {
    throwIfAborted(options.signal);
    const losses = model.losses({ ids: ids.subarray(index * stride, index * stride + window) });
    let sum = 0;
    for (let place = 0; place < window - 1; place += 1) {
      byPosition[place]! += losses[place]! / windows;
      sum += losses[place]!;
    }
    means.push(sum / (window - 1));
    options.onProgress?.({ window: index + 1, windows });
    await nextTurn();
  }
  const loss = means.reduce((sum, mean) => sum + mean, 0) / windows;
  const variance = means.reduce((sum, mean) => sum + (mean - loss) ** 2, 0) / (windows - 1);
  return {
    window,
    stride,
    windows,
    tokens: windows * (window - 1),
    loss,
    lossError: Math.sqrt(variance / windows),
    perplexity: Math.exp(loss),
    byPosition,
  };
}
