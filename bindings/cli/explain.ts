// SPDX-License-Identifier: MIT
// `poslab explain`: a model's config in words. Files are read as far as their header, however large they are.

import { type ConfigExplanation, explainConfig, type LayerExplanation, readConfigFile } from "../js/config.js";
import { loadPosLab } from "../js/index.js";
import { borderless } from "./borderless.js";
import { colors } from "./colors.js";
import { exitStatus, oneLine } from "./failure.js";
import { readBytes } from "./files.js";

export interface ExplainCommandOptions {
  layer?: string;
  length?: number;
  json?: boolean;
}

export async function explain(path = "-", options: ExplainCommandOptions): Promise<number> {
  const config = await readConfigFile(path === "-" ? readBytes(path) : path);
  const explanation = explainConfig(config, {
    lab: await loadPosLab(),
    ...(options.layer === undefined ? {} : { layer: layerFrom(options.layer) }),
    ...(options.length === undefined ? {} : { length: options.length }),
  });
  process.stdout.write(options.json ? `${JSON.stringify(explanation)}\n` : `${inWords(explanation)}\n`);
  return exitStatus.done;
}

function layerFrom(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function inWords({ modelType, layers, layerTypes, usableLength, cautions, differences }: ConfigExplanation): string {
  const parts = [
    `${colors.bold(modelType)}: ${usableLength === null ? "no length limit of its own" : `texts up to ${usableLength} tokens`}`,
  ];
  for (const [kind, layer] of Object.entries(layers)) parts.push(layerInWords(kind, layer, layerTypes));
  if (cautions.length > 0)
    parts.push(
      [colors.bold("Cautions"), ...cautions.map(({ code, message }) => `  ${code}: ${oneLine(message)}`)].join("\n"),
    );
  if (differences.length > 0)
    parts.push(
      [
        colors.bold("Elsewhere"),
        ...differences.map(({ software, message }) => `  ${software} ${oneLine(message)}`),
      ].join("\n"),
    );
  return parts.join("\n\n");
}

function layerInWords(kind: string, layer: LayerExplanation, layerTypes: readonly string[] | null): string {
  const { position, sources } = layer;
  const rows: [string, string, string][] = Object.entries(flat(position)).map(([field, value]) => [
    field,
    value,
    sources[field] ?? "",
  ]);
  const more: [string, unknown][] = [
    ["headDim", layer.headDim],
    ["rotaryDim", "rotaryDim" in position ? null : layer.rotaryDim],
    ["attentionFactor", layer.attentionFactor],
    ["window", layer.window],
    ["softmaxScale", layer.softmaxScale],
    ["logitTemperature", layer.logitTemperature && JSON.stringify(layer.logitTemperature)],
    ["positionIds", positionIdsInWords(layer)],
    ["inverseFrequencies", layer.inverseFrequencies && short(layer.inverseFrequencies)],
  ];
  for (const [field, value] of more) if (value !== null) rows.push([field, shown(value), sources[field] ?? ""]);
  const count = layerTypes?.filter((type) => type === kind).length;
  const name = kind !== "all" ? kind : layerTypes ? "the other layers" : "every layer";
  const title = `${colors.bold(name)}${count === undefined ? "" : ` (${count} of ${layerTypes!.length})`}${layer.causal ? "" : ", both directions"}`;
  return `${title}\n${borderless(["field", "value", "from"], rows, ["left", "left", "left"])}`;
}

function positionIdsInWords({ positionIds: { policy, offset, paddingRow } }: LayerExplanation): string {
  const start = policy === "mask" ? "counted over the mask" : "0, 1, 2, ...";
  return `${start}${offset > 0 ? `, plus ${offset}` : ""}${paddingRow === undefined ? "" : `; padding has row ${paddingRow}`}`;
}

/** A scheme object's fields by dotted name. */
function flat(value: object, prefix = ""): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]: [string, unknown]): [string, string][] =>
      typeof entry === "object" && entry !== null && !Array.isArray(entry)
        ? Object.entries(flat(entry, `${prefix}${name}.`))
        : [[`${prefix}${name}`, Array.isArray(entry) ? short(entry as number[]) : shown(entry)]],
    ),
  );
}

const kShownNumbers = 4;

function short(numbers: readonly number[]): string {
  const first = numbers.slice(0, kShownNumbers).map(shown).join(", ");
  return numbers.length > kShownNumbers ? `${first}, ... (${numbers.length})` : first;
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(Number(value.toPrecision(9))) : String(value);
}
