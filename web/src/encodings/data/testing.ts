// SPDX-License-Identifier: MIT
// The package in Node, and subjects of it, for the tests of this page.

import { loadPosLab } from "poslab";
import type { PosLab } from "../../engine/poslab.js";
import type { SchemeObject } from "../../state/page-link.js";
import { settingsDefaults, type Sizes } from "../settings.js";
import { openSubject, type Subject } from "./subject.js";

let opened: Promise<PosLab> | undefined;
export const lab = (): Promise<PosLab> => (opened ??= loadPosLab());

const { length, dim, heads, headDim, seed } = settingsDefaults;
export const defaultSizes: Sizes = { length, dim, heads, headDim, seed };

export async function subjectOf(scheme: SchemeObject, sizes: Partial<Sizes> = {}): Promise<Subject> {
  return openSubject(await lab(), scheme, { ...defaultSizes, ...sizes });
}

export async function schemeTypes(): Promise<string[]> {
  return (await lab()).info.schemes.map(({ type }) => type);
}
