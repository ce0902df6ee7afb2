// SPDX-License-Identifier: MIT
// The number types of tensors in model files and what they take: blocks of so many numbers in so many bytes (GGUF's
// quantised types by ggml's block structures). Types without `widen` are known by size, so that a file that holds them
// can be looked at, and are refused when their numbers are asked for.

import { PosLabError } from "../errors.js";
import { fromBfloat16, fromFloat16 } from "../half-floats.js";
import { q4K, q5K, q6K } from "./k-quants.js";
import { q4, q5, q8, type Widen } from "./quants.js";

export interface TensorType {
  /** numbers in a block: a row is a whole number of blocks */ block: number;
  /** bytes of a block */ bytes: number;
  /** `count` blocks into float32 */ widen?: Widen;
}

const plain = (bytes: number, widen: (view: DataView, at: number) => number): TensorType => ({
  block: 1,
  bytes,
  widen: (view, out) => {
    for (let index = 0; index < out.length; index += 1) out[index] = widen(view, index * bytes);
  },
});
const known = (block: number, bytes: number): TensorType => ({ block, bytes });

/** By their names in safetensors and GGUF. */
export const tensorTypes = {
  F64: plain(8, (view, at) => view.getFloat64(at, true)),
  F32: plain(4, (view, at) => view.getFloat32(at, true)),
  F16: plain(2, (view, at) => fromFloat16(view.getUint16(at, true))),
  BF16: plain(2, (view, at) => fromBfloat16(view.getUint16(at, true))),
  I64: plain(8, (view, at) => Number(view.getBigInt64(at, true))),
  I32: plain(4, (view, at) => view.getInt32(at, true)),
  I16: plain(2, (view, at) => view.getInt16(at, true)),
  I8: plain(1, (view, at) => view.getInt8(at)),
  U64: plain(8, (view, at) => Number(view.getBigUint64(at, true))),
  U32: plain(4, (view, at) => view.getUint32(at, true)),
  U16: plain(2, (view, at) => view.getUint16(at, true)),
  U8: plain(1, (view, at) => view.getUint8(at)),
  BOOL: plain(1, (view, at) => view.getUint8(at)),
  Q4_0: { block: 32, bytes: 18, widen: q4(false) },
  Q4_1: { block: 32, bytes: 20, widen: q4(true) },
  Q5_0: { block: 32, bytes: 22, widen: q5(false) },
  Q5_1: { block: 32, bytes: 24, widen: q5(true) },
  Q8_0: { block: 32, bytes: 34, widen: q8 },
  Q4_K: { block: 256, bytes: 144, widen: q4K },
  Q5_K: { block: 256, bytes: 176, widen: q5K },
  Q6_K: { block: 256, bytes: 210, widen: q6K },
  Q8_1: known(32, 36),
  Q2_K: known(256, 84),
  Q3_K: known(256, 110),
  Q8_K: known(256, 292),
  IQ2_XXS: known(256, 66),
  IQ2_XS: known(256, 74),
  IQ3_XXS: known(256, 98),
  IQ1_S: known(256, 50),
  IQ4_NL: known(32, 18),
  IQ3_S: known(256, 110),
  IQ2_S: known(256, 82),
  IQ4_XS: known(256, 136),
  IQ1_M: known(256, 56),
  TQ1_0: known(256, 54),
  TQ2_0: known(256, 66),
  MXFP4: known(32, 17),
} satisfies Record<string, TensorType>;

export type TensorTypeName = keyof typeof tensorTypes;

/** Names of the types whose numbers can be read. */
const readable = Object.entries<TensorType>(tensorTypes).flatMap(([name, { widen }]) => (widen ? [name] : []));

/** The numbers of whole blocks as float32. */
export function widenBlocks(type: TensorTypeName, bytes: Uint8Array): Float32Array {
  const { block, bytes: blockBytes, widen }: TensorType = tensorTypes[type];
  if (!widen)
    throw new PosLabError("format", `tensors of the type ${type} are not read; ${readable.join(", ")} are`, {
      given: type,
    });
  const out = new Float32Array((bytes.length / blockBytes) * block);
  if (type === "F32" && littleEndian) new Uint8Array(out.buffer).set(bytes);
  else widen(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), out);
  return out;
}

/** Of the machine; WebAssembly always is. */
const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
