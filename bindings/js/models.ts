// SPDX-License-Identifier: MIT
// Real checkpoints: open one, run it, measure it past its trained length.
//
//   import { loadPosLab } from "poslab";
//   import { openModel } from "poslab/models";
//   using model = await openModel("stories260K.gguf");
//   const { byPosition } = await model.lossByPosition(text, { window: 2048, override: { theta: 40000 } });

export { type FileLike, type RangeReader } from "./byte-source.js";
export { modelTypes } from "./models/families/index.js";
export type { LossByPosition, LossOptions } from "./models/loss-by-position.js";
export type * from "./models/model-description.js";
export { describePosition, type ModelInfo } from "./models/model-info.js";
export type {
  AttentionOptions,
  GeneratedText,
  GenerateOptions,
  InputOptions,
  Model,
  Overridable,
} from "./models/model.js";
export { inspectModel, openModel, type OpenModelOptions, type OpenModelProgress } from "./models/open-model.js";
export { parseOverride, type PositionOverride } from "./models/position-override.js";
export type { SamplingOptions } from "./models/sampling.js";
export type { EncodeOptions, ModelTokenizer } from "./models/tokenizers/tokenizer.js";
