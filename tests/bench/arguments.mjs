// SPDX-License-Identifier: MIT
// The options of `npm run bench`. Needs nothing from npm, so that --help works before anything is installed.

import { parseArgs } from "node:util";
import { Stop } from "../../bindings/toolchain/commands.mjs";

export const kTopics = ["attention", "position", "training", "memory", "startup", "size"];
export const kPlaces = ["node", "chromium", "native"];

export const kHelp = `npm run bench -- [options]    measures PosLab beside its peers and prints the tables as Markdown

  --quick              fewer sizes, schemes and peers, in under three minutes
  --only TOPIC,...     ${kTopics.join(", ")}; default: all
  --in PLACE,...       ${kPlaces.join(", ")}; default: all
  --markdown FILE      writes the tables there too
  --svg FILE           bars of the attention tables
  --out FILE           everything as JSON; its "summary" has the numbers that the project's goals are about
  --help               this text

Set-up, builds and the peers' packages (tests/bench/package.json) come first, each only when it is missing or changed.
Timings mean something on a machine that does nothing else.`;

/** A list of names, given with commas or by repeating the option; all `known` when there is none. */
function readNames(option, given, known) {
  const names = (given ?? []).flatMap((entry) => entry.split(",")).map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Stop(`--${option} knows no "${unknown}"; it is one of ${known.join(", ")}`);
  return names.length > 0 ? known.filter((name) => names.includes(name)) : known;
}

/** { help, quick, topics, places, markdown, svg, out }; a Stop names what is wrong. */
export function readArguments(list) {
  let values;
  try {
    ({ values } = parseArgs({
      args: list,
      options: {
        help: { type: "boolean", short: "h", default: false },
        quick: { type: "boolean", default: false },
        only: { type: "string", multiple: true },
        in: { type: "string", multiple: true },
        markdown: { type: "string" },
        svg: { type: "string" },
        out: { type: "string" },
      },
    }));
  } catch (error) {
    throw new Stop(`${error.message.split(". ")[0]}; npm run bench -- --help lists the options`);
  }
  return {
    help: values.help,
    quick: values.quick,
    topics: readNames("only", values.only, kTopics),
    places: readNames("in", values.in, kPlaces),
    markdown: values.markdown ?? null,
    svg: values.svg ?? null,
    out: values.out ?? null,
  };
}
