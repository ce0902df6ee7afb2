// SPDX-License-Identifier: MIT
// Links from one page to another with the same encodings: what it is, who looks at whom under it, how it races.

import { settingsDefaults as attentionDefaults, writeSettings } from "../attention/settings.js";
import { settings as encodingsTable, settingsDefaults as encodingsDefaults } from "../encodings/settings.js";
import type { Encoding } from "../engine/poslab.js";
import { sameEncoding } from "../schemes/fields.js";
import { isSchemeType } from "../schemes/looks.js";
import { resolve } from "../state/fields.js";
import { writeLink } from "../state/link.js";
import { writePageLink, type SchemeObject } from "../state/page-link.js";
import { routeHash } from "./routes.js";

const plain = ({ label: _, ...scheme }: SchemeObject | Encoding): SchemeObject => scheme as SchemeObject;
const known = (schemes: readonly SchemeObject[]) => schemes.filter(({ type }) => isSchemeType(type)).map(plain);

/** The page of one encoding, with its fields and this trained length where the page has it. */
export function encodingHash(encoding: SchemeObject | Encoding, trainedLength?: number): string {
  const own = plain(encoding);
  const { minimum, maximum } = encodingsTable.length;
  const fits = trainedLength !== undefined && trainedLength >= minimum && trainedLength <= maximum;
  const query = writePageLink(encodingsTable, {
    ...encodingsDefaults,
    ...(fits ? { length: trainedLength } : {}),
    own: Object.keys(own).length > 1 ? [own] : [],
  });
  return routeHash({ page: "encodings", path: own.type, query });
}

/** Attention under these encodings beside none at all, or in the models of a race; null where that page knows none of them. */
export function attentionHash({
  encodings = [],
  race,
}: {
  encodings?: readonly SchemeObject[];
  race?: string;
}): string | null {
  const shown = known(encodings);
  if (race === undefined && shown.length === 0) return null;
  const query = writeSettings({
    ...attentionDefaults(),
    ...(shown.length ? { encodings: [...shown.filter(({ type }) => type !== "none"), { type: "none" }] } : {}),
    ...(race === undefined ? {} : { from: race }),
  });
  return routeHash({ page: "attention", query });
}

/** A race of these encodings beside the usual ones, set up and not started; null where that page knows none of them. */
export function raceHash(encodings: readonly SchemeObject[]): string | null {
  const shown = known(encodings) as unknown as Encoding[];
  if (shown.length === 0) return null;
  const usual = resolve({}).encodings;
  const added = shown.filter((own) => !usual.some((other) => sameEncoding(own, other)));
  const { query } = writeLink({ overrides: { encodings: [...usual, ...added] } });
  return routeHash({ page: "race", query });
}
