// SPDX-License-Identifier: MIT
// The only door to the package: everything else in the page imports types and functions from here.

export type {
  AtTest,
  AttentionOptions,
  PositionArray,
  CompleteExperiment,
  Encoding,
  Experiment,
  ExperimentResult,
  ExperimentState,
  LengthEntry,
  ModelShape,
  Position,
  RunProgress,
  RunResult,
  Task,
  Tensor,
  TrainingOptions,
  TrainingPositions,
} from "../../../bindings/js/types.js";
export type {
  Generated,
  MeasureOptions,
  Measurement,
  RunController,
  RunEvent,
  RunFailure,
  RunPool,
  RunRequest,
  TestChange,
  Verdict,
  EncodingVerdict,
} from "../../../bindings/js/run-types.js";

export {
  atTestDefaults,
  encodingDefaults,
  modelDefaults,
  toyTokens,
  trainingDefaults,
  windowsDefault,
} from "../../../bindings/js/experiment-defaults.js";
export { resultSchema } from "../../../bindings/js/result-schema.js";
export { completeExperiment } from "../../../bindings/js/experiment.js";
export { computeVerdict, verdictSentence } from "../../../bindings/js/verdict.js";
export { curveStyles } from "../../../bindings/js/scheme-style.js";
export { chartSvg, type Chart, type ChartCurve } from "../../../bindings/js/chart-svg.js";
export { darkTheme, escapeXml, isWide, lightTheme, svgDocument, textWidth } from "../../../bindings/js/svg-text.js";
export type { PosLab } from "../../../bindings/js/poslab.js";
export { describe, PosLabError, type ErrorCode } from "../../../bindings/js/errors.js";
export { shortNames } from "../../../bindings/js/short-names.js";
export { errorData } from "../../../bindings/js/worker-messages.js";
export { readSafetensors } from "../../../bindings/js/safetensors.js";
