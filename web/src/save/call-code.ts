// SPDX-License-Identifier: MIT
// A call of `lab.attention` as JavaScript, for code that makes it elsewhere. Vectors and what the scheme learns are written
// out as base64, so that the numbers are those of the page to the last digit; rows that are all alike are written once.

import type { AttentionOptions, PositionArray, Tensor } from "../engine/poslab.js";

export interface CallCode {
  /** what comes before: import, functions, the module, the vectors */ opening: string;
  /** the options object, without what is wanted back */ options: string;
}

/** What `literal` needs for numbers that differ. */
export const kFloats =
  "const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);";
const kRepeated = `// One row a head, [heads, width], for every token: [heads, count, width].
const repeated = (data, heads, count, width) => ({
  data: Float32Array.from({ length: heads * count * width }, (_, n) => data[Math.floor(n / (count * width)) * width + (n % width)]),
  shape: [heads, count, width],
});`;

export function callCode(call: AttentionOptions, comment: string): CallCode {
  const { vectors, options } = partsOf(call);
  return {
    opening: [...openingOf([...vectors, ...options], comment), ...vectors].join("\n"),
    options: options.join(",\n  "),
  };
}

/** Several calls, each in a block of its own as `use` has it: given the options' text, a statement. */
export function callBlocks(
  calls: readonly AttentionOptions[],
  comment: string,
  before: readonly string[],
  use: (options: string, index: number) => string,
): string {
  const parts = calls.map(partsOf);
  const text = parts.flatMap(({ vectors, options }) => [...vectors, ...options]);
  const blocks = parts.flatMap(({ vectors, options }, index) => [
    "{",
    ...vectors.map((line) => `  ${line}`),
    `  ${use(options.join(", "), index)}`,
    "}",
  ]);
  return [...openingOf(text, comment), ...before, ...blocks, ""].join("\n");
}

function openingOf(lines: readonly string[], comment: string): string[] {
  const text = lines.join("\n");
  return [
    'import { loadPosLab } from "poslab";',
    "",
    ...(comment === "" ? [] : [`// ${comment.replaceAll(/\s+/g, " ")}`]),
    ...(text.includes("floats(") ? [kFloats] : []),
    ...(text.includes("repeated(") ? [kRepeated] : []),
    "const lab = await loadPosLab();",
  ];
}

/** The statements that make the vectors, and the fields of the options object. */
function partsOf(call: AttentionOptions): { vectors: string[]; options: string[] } {
  const { query, key, value, position, gates, mask, scale, queryPositions, keyPositions } = call;
  const fields = Object.entries(position ?? { type: "none" }).map(([name, field]) => `${name}: ${literal(field)}`);
  const vectors = [
    `const query = ${literal(query)};`,
    `const key = ${key === query ? "query" : literal(key)};`,
    ...(value === key ? [] : [`const value = ${literal(value)};`]),
  ];
  const options = [
    "query",
    "key",
    value === key ? "value: key" : "value",
    `position: { ${fields.join(", ")} }`,
    ...(gates ? [`gates: ${literal(gates)}`] : []),
    `mask: ${JSON.stringify(mask ?? {})}`,
    ...(scale === undefined ? [] : [`scale: ${scale}`]),
    ...(queryPositions ? [`queryPositions: ${positionsText(queryPositions)}`] : []),
    ...(keyPositions ? [`keyPositions: ${positionsText(keyPositions)}`] : []),
  ];
  return { vectors, options };
}

/** A program that ends with a call's scores or output in `data`. */
export function callProgram(call: AttentionOptions, result: "scores" | "output", comment = ""): string {
  const { opening, options } = callCode(call, comment);
  const wanted = result === "scores" ? ",\n  scores: true" : "";
  return `${opening}\nconst { data } = lab.attention({\n  ${options}${wanted},\n}).${result};\n`;
}

/** An id a token as a count where it is one; several ids a token as they are. */
function positionsText(positions: PositionArray): string {
  if ("data" in positions) return JSON.stringify({ data: Array.from(positions.data, Number), shape: positions.shape });
  const ids: (number | bigint | ArrayLike<number>)[] = Array.from(
    positions as ArrayLike<number | bigint | ArrayLike<number>>,
  );
  if (ids.some((id) => typeof id === "object"))
    return JSON.stringify(ids.map((row) => Array.from(row as ArrayLike<number>)));
  const numbers = ids.map(Number);
  const [first = 0] = numbers;
  if (numbers.length < 4 || numbers.some((position, index) => position !== first + index))
    return JSON.stringify(numbers);
  return `Array.from({ length: ${numbers.length} }, (_, n) => ${first === 0 ? "" : `${first} + `}n)`;
}

export function literal(value: unknown): string {
  if (!isTensor(value)) return JSON.stringify(value);
  const { data, shape } = value;
  const once = onceAHead(value);
  if (once) return `repeated(floats("${base64(once)}"), ${shape.join(", ")})`;
  return `{ data: floats("${base64(data)}"), shape: ${JSON.stringify(shape)} }`;
}

/** The row of each head, when all rows of a head are alike. */
function onceAHead({ data, shape }: Tensor): Float32Array | null {
  const [heads = 0, count = 0, width = 0] = shape;
  if (shape.length !== 3 || count < 2 || width === 0) return null;
  const first = new Float32Array(heads * width);
  for (let index = 0; index < data.length; index += 1) {
    const [head, lane] = [Math.floor(index / (count * width)), index % width];
    if (index % (count * width) < width) first[head * width + lane] = data[index]!;
    else if (data[index] !== first[head * width + lane]) return null;
  }
  return first;
}

const isTensor = (value: unknown): value is Tensor =>
  typeof value === "object" && value !== null && (value as Tensor).data instanceof Float32Array;

export function base64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
