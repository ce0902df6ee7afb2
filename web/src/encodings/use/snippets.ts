// SPDX-License-Identifier: MIT
// Code that prints a scheme's fingerprint: in JavaScript and C++ written from the scheme object, whatever the scheme; in
// PyTorch from a file a scheme (../pytorch), with the fields set as on the page.

import { kGateOffset, kHeads, kKeys, kPosition, kWidth, type Fingerprint } from "../data/fingerprint.js";
import type { SchemeObject } from "../../state/page-link.js";

/** A scheme object as JavaScript, its tensors as ramps. */
export function schemeText(scheme: SchemeObject, print?: Fingerprint): string {
  const tensors = Object.entries(print?.tensors ?? {}).map(([name, { shape, offset }]) => {
    const ramp = `ramp(${shape.join(" * ")}${offset === 0 ? "" : `, ${offset}`})`;
    return `${name}: { data: ${ramp}, shape: [${shape.join(", ")}] }`;
  });
  const { type, ...rest } = scheme;
  const fields = Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${[`type: ${JSON.stringify(type)}`, ...fields, ...tensors].join(", ")} }`;
}

const javascriptCall = ({ kind, gates }: Fingerprint): string =>
  ({
    table: `lab.table(position, { length: 1, dim: ${kWidth}, start: ${kPosition} })`,
    rotate: `lab.rotate({ data: ramp(${kWidth}), shape: [1, 1, ${kWidth}] }, position, { positions: [${kPosition}] })`,
    bias: `lab.bias(position, { heads: ${kHeads}, queryLength: 1, keyLength: ${kKeys} })`,
    scores: `lab.attention({ query, key, value: key, position, ${gates ? "gates, " : ""}scores: true }).scores`,
  })[kind];

export function javascriptSnippet(scheme: SchemeObject, print: Fingerprint): string {
  const ramps = print.kind === "rotate" || print.kind === "scores" || Object.keys(print.tensors).length > 0;
  return [
    'import { loadPosLab } from "poslab";',
    "",
    "const lab = await loadPosLab();",
    ...(ramps
      ? [
          "const ramp = (count, offset = 0) =>",
          "  Float32Array.from({ length: count }, (_, n) => (((n * 7) % 13) - 6) / 8 + offset);",
        ]
      : []),
    `const position = ${schemeText(scheme, print)};`,
    ...(print.kind === "scores"
      ? [
          `const query = { data: ramp(${kHeads * kWidth}), shape: [${kHeads}, 1, ${kWidth}] };`,
          `const key = { data: ramp(${kHeads * kKeys * kWidth}), shape: [${kHeads}, ${kKeys}, ${kWidth}] };`,
        ]
      : []),
    ...(print.gates
      ? [`const gates = { data: ramp(${kHeads * kKeys}, ${kGateOffset}), shape: [${kHeads}, ${kKeys}] };`]
      : []),
    `const { data } = ${javascriptCall(print)};`,
    'console.log(Array.from(data, (value) => value.toFixed(6)).join(" "));',
    "",
  ].join("\n");
}

const scripts = import.meta.glob<string>("../pytorch/*.py", { eager: true, query: "?raw", import: "default" });

/** Null for a scheme without a script, and for fields that its script knows nothing of. */
export function pytorchSnippet({ type, ...fields }: SchemeObject): string | null {
  let script = scripts[`../pytorch/${type}.py`] ?? null;
  for (const [name, value] of Object.entries(fields)) {
    const line = script?.split("\n").find((own) => own.startsWith(`${name} = `));
    script = line === undefined ? null : script!.replace(line, () => `${name} = ${python(value)}`);
  }
  return script;
}

const python = (value: unknown): string =>
  typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);

// ------------------------------------------------------------------------------------------------ C++

export function cppSnippet(scheme: SchemeObject, print: Fingerprint): string {
  const attends = print.kind === "scores";
  const parameters = Object.keys(print.tensors).length > 0;
  return [
    ...(attends ? ["#include <poslab/attention/attention.h>"] : ["#include <poslab/position/inspect.h>"]),
    "#include <poslab/position/registry.h>",
    "#include <cstdio>",
    "#include <vector>",
    "",
    "std::vector<float> Ramp(int64_t count, float offset = 0) {",
    "  std::vector<float> values(count);",
    "  for (int64_t n = 0; n < count; ++n) values[n] = ((n * 7) % 13 - 6) / 8.0f + offset;",
    "  return values;",
    "}",
    "",
    "int main() {",
    `  const auto scheme = poslab::MakeScheme(${cppDescription(scheme)});`,
    ...cppParameters(print),
    ...cppCalls(print, parameters ? "parameters" : "{}"),
    "  return 0;",
    "}",
    "",
  ].join("\n");
}

function cppDescription({ type, ...rest }: SchemeObject): string {
  const fields = flatten(rest, "").map(([name, value]) => {
    const kind = { number: "kNumber", boolean: "kBoolean", string: "kText" }[typeof value as "number"] ?? "kNumbers";
    const member = { kNumber: "number", kBoolean: "boolean", kText: "text", kNumbers: "numbers" }[kind];
    const text = Array.isArray(value) ? `{${value.join(", ")}}` : JSON.stringify(value);
    return `{.name = ${JSON.stringify(name)}, .kind = poslab::Field::Kind::${kind}, .${member} = ${text}}`;
  });
  return `{.type = ${JSON.stringify(type)}, .fields = {${fields.join(", ")}}}`;
}

function flatten(object: Record<string, unknown>, prefix: string): [string, unknown][] {
  return Object.entries(object).flatMap(([name, value]): [string, unknown][] =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? flatten(value as Record<string, unknown>, `${prefix}${name}.`)
      : [[prefix + name, value]],
  );
}

function cppParameters({ tensors }: Fingerprint): string[] {
  const entries = Object.entries(tensors);
  if (entries.length === 0) return [];
  const named = entries.map(([name, { shape }]) => `      {"${name}", ${name}.data(), {${shape.join(", ")}}},`);
  return [
    ...entries.map(
      ([name, { shape, offset }]) => `  const auto ${name} = Ramp(${shape.join(" * ")}${offset ? `, ${offset}` : ""});`,
    ),
    "  const std::vector<poslab::TensorView<const float>> parameters = {",
    ...named,
    "  };",
  ];
}

function cppCalls({ kind, gates }: Fingerprint, parameters: string): string[] {
  const print = '  for (float value : out) std::printf("%.6f ", value);';
  switch (kind) {
    case "table":
      return [
        "  poslab::Buffer<float> out;",
        `  (void)poslab::inspect::Table(**scheme, ${kPosition}, 1, ${kWidth}, ${parameters}, &out);`,
        print,
      ];
    case "rotate":
      return [
        `  const auto x = Ramp(${kWidth});`,
        "  poslab::Buffer<float> out;",
        `  (void)poslab::inspect::Rotate(**scheme, 1, 1, ${kWidth}, x.data(), {.start = ${kPosition}, .count = 1}, &out);`,
        print,
      ];
    case "bias":
      return [
        "  poslab::Buffer<float> out;",
        `  (void)poslab::inspect::Bias(**scheme, {.heads = ${kHeads}, .query_length = 1, .key_length = ${kKeys}, .parameters = ${parameters}}, &out);`,
        print,
      ];
    case "scores":
      return [
        `  const auto query = Ramp(${kHeads * kWidth}), key = Ramp(${kHeads * kKeys * kWidth});`,
        "  poslab::BindArguments bind;",
        `  bind.dimensions = {.heads = ${kHeads}, .head_dim = ${kWidth}, .value_dim = ${kWidth}};`,
        `  bind.query_positions = {.start = ${kKeys - 1}, .count = 1};`,
        `  bind.key_positions = {.start = 0, .count = ${kKeys}};`,
        `  bind.running_length = ${kKeys};`,
        ...(parameters === "{}" ? [] : ["  bind.parameters = parameters;"]),
        "  poslab::Hooks hooks;",
        "  if (!(*scheme)->Bind(bind, &hooks).ok()) return 1;",
        "  using View = poslab::HeadsView<const float>;",
        "  poslab::AttentionArguments arguments;",
        `  arguments.query = View::Packed(query.data(), ${kHeads}, 1, ${kWidth});`,
        `  arguments.key = arguments.value = View::Packed(key.data(), ${kHeads}, ${kKeys}, ${kWidth});`,
        "  arguments.hooks = &hooks;",
        ...(gates
          ? [`  const auto gates = Ramp(${kHeads * kKeys}, ${kGateOffset});`, "  arguments.gates = gates.data();"]
          : []),
        "  arguments.query_positions = bind.query_positions;",
        "  arguments.key_positions = bind.key_positions;",
        `  std::vector<float> output(${kHeads * kWidth}), scores(${kHeads * kKeys});`,
        "  poslab::AttentionResults results;",
        `  results.output = poslab::HeadsView<float>::Packed(output.data(), ${kHeads}, 1, ${kWidth});`,
        "  results.scores = scores.data();",
        "  poslab::AttentionWorkspace workspace;",
        "  if (!poslab::Attention(arguments, &results, &workspace).ok()) return 1;",
        '  for (float value : scores) std::printf("%.6f ", value);',
      ];
  }
}
