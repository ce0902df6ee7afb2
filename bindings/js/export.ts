// SPDX-License-Identifier: MIT
// Rotations and biases in the form in which other programs take them:
//   onnx             RotaryEmbedding (opset 23, and ONNX Runtime's own): cos_cache, sin_cache [length, pairs];
//                    Attention: attn_mask [1, heads, queries, keys], added to the scores
//   flash-attention  apply_rotary_emb and flash_attn_with_kvcache: cos, sin [length, pairs]; alibi_slopes [heads]
//   transformers     apply_rotary_pos_emb: cos, sin [1, length, rotary width], every value twice;
//                    attention_mask [1, heads, queries, keys], added to the scores
//   ggml             ggml_rope_ext: numbers, and freq_factors [pairs] that divide its own angles;
//                    a tensor for ggml_add to the scores, ne = [keys, queries, heads]
// Values are the core's own; nothing is computed anew but ggml's factors.

import { PosLabError, wrongArgument } from "./errors.js";
import type { AttentionLab } from "./attention-lab.js";
import { readNatural, readTruth } from "./tensors.js";
import type { Position, Tensor } from "./types.js";

export const exportPrograms = ["onnx", "flash-attention", "transformers", "ggml"] as const;
export type ExportProgram = (typeof exportPrograms)[number];

/** What a program is handed: tensors and attributes, both by the names that it has for them. */
export interface Exported {
  tensors: Record<string, Tensor>;
  attributes: Record<string, number | string | boolean>;
}
export interface RotationExportOptions {
  program: ExportProgram;
  headDim: number;
  /** positions 0 .. length - 1 */ length: number;
  /** what dynamic and longrope scalings look at; default: length */ runningLength?: number;
}
export interface BiasExportOptions {
  program: ExportProgram;
  heads: number;
  queryLength: number;
  keyLength: number;
  /** also hide later keys, with -Infinity; the last query sees the last key */ causal?: boolean;
}

/** A gibibyte of float32: no program takes a table as large. */
const kMostNumbers = 2 ** 28;

function checkProgram(program: unknown): asserts program is ExportProgram {
  if (!exportPrograms.includes(program as ExportProgram))
    throw wrongArgument("unknownName", "program", program, `one of ${exportPrograms.join(", ")}`);
}

export function exportRotation(lab: AttentionLab, position: Position, options: RotationExportOptions): Exported {
  const { program, headDim } = options;
  checkProgram(program);
  const length = readNatural(options.length, "length");
  readNatural(headDim, "headDim");
  if (length * headDim > kMostNumbers)
    throw new PosLabError(
      "memory",
      `length: ${length} rows of ${headDim} numbers were asked for; at most ${kMostNumbers} numbers in all can be had`,
      { argument: "length", given: length },
    );
  const running = options.runningLength ?? length;
  const { inverseFrequencies, attentionFactor } = lab.frequencies(position, { headDim, length: running });
  const pairs = inverseFrequencies.length;
  const interleaved = (position as { layout?: string }).layout === "interleaved";
  if (program === "ggml") return forGgml(position, inverseFrequencies, attentionFactor, interleaved);
  // A pair (1, 0) turns into (cos, sin), attention factor included.
  const lanes = (pair: number): [number, number] => (interleaved ? [2 * pair, 2 * pair + 1] : [pair, pair + pairs]);
  const ones = new Float32Array(length * headDim);
  for (let row = 0; row < length; row += 1)
    for (let pair = 0; pair < pairs; pair += 1) ones[row * headDim + lanes(pair)[0]] = 1;
  const turned = lab.rotate({ data: ones, shape: [1, length, headDim] }, position, { length: running }).data;
  const table = (side: 0 | 1): Float32Array =>
    Float32Array.from(
      { length: length * pairs },
      (_, n) => turned[Math.floor(n / pairs) * headDim + lanes(n % pairs)[side]]!,
    );
  const [cos, sin] = [table(0), table(1)];
  if (program === "transformers") {
    const twice = (data: Float32Array): Tensor => ({
      data: doubled(data, pairs, interleaved),
      shape: [1, length, 2 * pairs],
    });
    return { tensors: { cos: twice(cos), sin: twice(sin) }, attributes: {} };
  }
  const shape = [length, pairs];
  if (program === "flash-attention")
    return { tensors: { cos: { data: cos, shape }, sin: { data: sin, shape } }, attributes: { interleaved } };
  return {
    tensors: { cos_cache: { data: cos, shape }, sin_cache: { data: sin, shape } },
    attributes: { interleaved: interleaved ? 1 : 0, rotary_embedding_dim: 2 * pairs === headDim ? 0 : 2 * pairs },
  };
}

/** Rows of `pairs` values: one half after the other as lanes pair by halves, or each value twice where neighbours pair. */
function doubled(data: Float32Array, pairs: number, interleaved: boolean): Float32Array {
  return Float32Array.from({ length: 2 * data.length }, (_, n) => {
    const [row, lane] = [Math.floor(n / (2 * pairs)), n % (2 * pairs)];
    return data[row * pairs + (interleaved ? Math.floor(lane / 2) : lane % pairs)]!;
  });
}

function forGgml(
  position: Position,
  inverseFrequencies: Float64Array,
  attentionFactor: number,
  interleaved: boolean,
): Exported {
  if (position.type !== "rope" || position.sections)
    throw new PosLabError("notDefined", `position: ggml_rope_ext has one axis, which ${position.type} has not here`, {
      argument: "position",
      given: position.type,
    });
  const { theta = 10000 } = position;
  const pairs = inverseFrequencies.length;
  const factors = Float32Array.from(inverseFrequencies, (frequency, pair) => theta ** (-pair / pairs) / frequency);
  return {
    tensors: { freq_factors: { data: factors, shape: [pairs] } },
    attributes: {
      mode: interleaved ? "NORM" : "NEOX",
      n_dims: 2 * pairs,
      freq_base: theta,
      freq_scale: 1,
      ext_factor: 0,
      attn_factor: attentionFactor,
    },
  };
}

export function exportBias(lab: AttentionLab, position: Position, options: BiasExportOptions): Exported {
  const { program, heads, queryLength, keyLength, causal = false } = options;
  checkProgram(program);
  readTruth(causal, "causal");
  if (program === "flash-attention")
    return {
      tensors: { alibi_slopes: { data: lab.slopes(position, { heads }), shape: [heads] } },
      attributes: { causal },
    };
  const { data } = lab.bias(position, { heads, queryLength, keyLength });
  if (causal) {
    for (let n = 0; n < data.length; n += 1) {
      const query = Math.floor(n / keyLength) % queryLength;
      if (n % keyLength > query + keyLength - queryLength) data[n] = -Infinity;
    }
  }
  const name = { onnx: "attn_mask", transformers: "attention_mask", ggml: "kq_bias" }[program];
  const shape = [heads, queryLength, keyLength];
  return {
    tensors: { [name]: { data, shape: program === "ggml" ? shape : [1, ...shape] } },
    attributes: program === "onnx" ? { is_causal: 0 } : {},
  };
}
