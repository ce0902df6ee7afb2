// SPDX-License-Identifier: MIT
// PosLab: positional encodings and the attention that uses them, and "train short, test long" experiments.
//
//   import { loadPosLab } from "poslab";
//   const lab = await loadPosLab();
//   const { data } = lab.bias({ type: "alibi" }, { heads: 8, queryLength: 16, keyLength: 16 });

import { compileModule, type LoadOptions, startModule } from "./module.js";
import { PosLab } from "./poslab.js";

/**
 * Loads the WebAssembly module and gives the library's functions. Each call makes an instance with memory of its own.
 * @throws PosLabError (load) when the module cannot be had, says where from and what came instead.
 */
export async function loadPosLab(options: LoadOptions = {}): Promise<PosLab> {
  const compiled = await compileModule(options);
  return new PosLab(await startModule(compiled), compiled.variant);
}

export type { LoadOptions } from "./module.js";
export type { PosLab } from "./poslab.js";
export type { LabCorpus } from "./lab-corpus.js";
export type { LabRun, LengthMeasurement } from "./lab-run.js";
export { type ErrorCode, PosLabError } from "./errors.js";
export { ExperimentInterrupted } from "./interrupted.js";
export { atTestLabel, completeExperiment, encodingLabel } from "./experiment.js";
export { differencesFromDefaults, experimentFromLink, type LinkNotice } from "./experiment-link.js";
export { computeVerdict, verdictSentence } from "./verdict.js";
export { readSafetensors, type TensorToWrite, writeSafetensors } from "./safetensors.js";
export type * from "./types.js";
export type * from "./run-types.js";
export type * from "./config/types.js";
export type { BiasExportOptions, Exported, ExportProgram, RotationExportOptions } from "./export.js";
export type { NarrowType, PrecisionReport, TypePrecision } from "./precision.js";
export type { PositionIdOptions, PositionPolicy } from "./position-ids.js";
export type { CaseObject, Diagnosis } from "./check.js";
