// SPDX-License-Identifier: MIT
// The JavaScript that computes a picture of this page: a program that ends with its numbers in `data`.

import type { Position, Tensor } from "../../engine/poslab.js";
import { base64, callProgram, kFloats, literal } from "../../save/call-code.js";
import { kBeyond, type BeyondCurve } from "../data/beyond.js";
import { bandDraws, type Content } from "../data/distance.js";
import { gatesOf } from "../data/gates.js";
import { callOf, shapeOf, type Tokens } from "../data/scores.js";
import { counting, type Subject } from "../data/subject.js";
import { schemeText } from "../use/snippets.js";

/** Calls of `lab` under the scheme, with its tensors as the page has them; they may use `lab` and `position`. */
export function pictureScript({ lab, scheme, position, sizes, gateReaders }: Subject, ...calls: string[]): string {
  const { length, dim, heads, headDim, seed } = sizes;
  const given = { length, ...(gateReaders ? {} : { dim }), heads, headDim, seed };
  const start = lab.startParameters(scheme as unknown as Position, given);
  const sizesText = Object.entries(given).map(([name, size]) => `${name}: ${size}`);
  // A table that starts from zeros is another here.
  const own = position as unknown as Record<string, Tensor>;
  const drawn = Object.entries(start).filter(([name, { data }]) =>
    data.some((value, n) => value !== own[name]!.data[n]),
  );
  const spread = [
    "...scheme",
    `...lab.startParameters(scheme, { ${sizesText.join(", ")} })`,
    ...drawn.map(([name]) => `${name}: ${literal(own[name])}`),
  ];
  const text = [
    ...(Object.keys(start).length > 0
      ? [`const scheme = ${schemeText(scheme)};`, `const position = { ${spread.join(", ")} };`]
      : [`const position = ${schemeText(scheme)};`]),
    ...calls,
    "",
  ].join("\n");
  const opening = ['import { loadPosLab } from "poslab";', "", ...(text.includes("floats(") ? [kFloats] : [])];
  return [...opening, "const lab = await loadPosLab();", text].join("\n");
}

/** [heads, queries, keys] of scores, or what the scheme adds to the output of values that are zero. */
export const scoresScript = (subject: Subject, tokens: Tokens): string =>
  callProgram(callOf(subject, tokens, tokens, {}), "scores");
export const addedScript = (subject: Subject, tokens: Tokens): string =>
  callProgram(
    callOf(subject, tokens, tokens, { causal: true, values: new Float32Array(tokens.data.length) }),
    "output",
  );

/** The mean score by distance, [heads, reach + 1], over the draws of a band. */
export function distanceScript(subject: Subject, reach: number, content: Content): string {
  const { heads, dim } = shapeOf(subject);
  const draws = bandDraws(subject, content);
  const queries = Float32Array.from(draws.flatMap(({ query }) => Array.from(query)));
  const keys = Float32Array.from(draws.flatMap(({ key }) => Array.from(key)));
  const places = counting(reach + 1);
  const gates = draws.flatMap(({ key }) => {
    // All keys are alike, and so are their gates: one a head.
    const found = gatesOf(subject, { heads, dim, data: key, positions: [0] });
    return found ? Array.from(found.data) : [];
  });
  const gated = gates.length > 0;
  return pictureScript(
    subject,
    `const [draws, heads, count, width] = [${draws.length}, ${heads}, ${places.length}, ${dim}];`,
    `const queries = floats("${base64(queries)}"); // [draws, heads, width]`,
    `const keys = floats("${base64(keys)}");`,
    ...(gated ? [`const gates = floats("${base64(Float32Array.from(gates))}"); // [draws, heads]`] : []),
    "const data = new Float64Array(heads * count);",
    "for (let draw = 0; draw < draws; draw += 1) {",
    "  const at = draw * heads * width;",
    "  const query = { data: queries.subarray(at, at + heads * width), shape: [heads, 1, width] };",
    "  const everywhere = (_, n) => keys[at + Math.floor(n / (count * width)) * width + (n % width)];",
    "  const key = {",
    "    data: Float32Array.from({ length: heads * count * width }, everywhere),",
    "    shape: [heads, count, width],",
    "  };",
    "  const { scores } = lab.attention({",
    "    query,",
    "    key,",
    "    value: key,",
    "    position,",
    ...(gated
      ? [
          "    gates: {",
          "      data: Float32Array.from({ length: heads * count }, (_, n) => gates[draw * heads + Math.floor(n / count)]),",
          "      shape: [heads, count],",
          "    },",
        ]
      : []),
    "    queryPositions: [count - 1],",
    "    keyPositions: Array.from({ length: count }, (_, n) => n),",
    "    scores: true,",
    "  });",
    "  for (let head = 0; head < heads; head += 1) {",
    "    for (let distance = 0; distance < count; distance += 1)",
    "      data[head * count + distance] += scores.data[head * count + count - 1 - distance] / draws;",
    "  }",
    "}",
  );
}

/** The bias of every head at the distances 0 ... reach: [heads, 1, reach + 1], the furthest first. */
export const biasScript = (subject: Subject, queries: number, keys: number): string =>
  pictureScript(
    subject,
    `const { data } = lab.bias(position, { heads: ${shapeOf(subject).heads}, queryLength: ${queries}, keyLength: ${keys} });`,
  );

/** The curve far past the trained length. */
export function beyondScript(subject: Subject, curve: BeyondCurve): string {
  const { length, dim } = subject.sizes;
  if (curve.of !== "rows") {
    const reach = kBeyond * length;
    return curve.of === "scores" && curve.fixed
      ? biasScript(subject, 1, reach + 1)
      : distanceScript(subject, reach, "same");
  }
  const reach = curve.points.length;
  return pictureScript(
    subject,
    `const rows = lab.table(position, { length: ${reach}, dim: ${dim} });`,
    `const tokens = { data: rows.data, shape: [1, ${reach}, ${dim}] };`,
    "const { scores } = lab.attention({ query: tokens, key: tokens, value: tokens, scale: 1, scores: true });",
    `const product = (i, j) => scores.data[i * ${reach} + j];`,
    "const cosine = (i, j) => product(i, j) / Math.sqrt(product(i, i) * product(j, j));",
    `const trained = Array.from({ length: ${length} }, (_, j) => j);`,
    `const data = Array.from({ length: ${reach} }, (_, i) => Math.max(...trained.map((j) => cosine(i, j))));`,
  );
}
