// SPDX-License-Identifier: MIT
import { expect, it } from "vitest";
import { readSettings } from "../attention/settings.js";
import { settings } from "../encodings/settings.js";
import { readLink } from "../state/link.js";
import { readPageLink } from "../state/page-link.js";
import { attentionHash, encodingHash, raceHash } from "./onward.js";
import { readRoute } from "./routes.js";

const rope = { type: "rope", theta: 500, label: "mine" };
const { label: _, ...unnamed } = rope;

it("an encoding's page opens with its fields and the length of the race", () => {
  const route = readRoute(encodingHash(rope, 128));
  expect([route.page, route.path]).toEqual(["encodings", "rope"]);
  const { values, notices } = readPageLink(settings, route.query);
  expect(notices).toEqual([]);
  expect([values.length, values.own]).toEqual([128, [unnamed]]);
  // Longer than the page draws: its own length is better than none.
  expect(encodingHash({ type: "alibi" }, 100_000)).toBe("#/encodings/alibi");
});

it("Attention opens under the same encodings beside none, or with the models of a race", () => {
  const { values, notices } = readSettings(readRoute(attentionHash({ encodings: [rope, { type: "none" }] })!).query);
  expect(notices).toEqual([]);
  expect(values.encodings).toEqual([unnamed, { type: "none" }]);
  expect(attentionHash({ race: "text-moby-dick" })).toBe("#/attention?v=1&from=text-moby-dick");
  expect(attentionHash({ encodings: [{ type: "from-tomorrow" }] })).toBeNull();
});

it("the Race opens with the encoding beside the usual ones", () => {
  expect(raceHash([{ type: "rope" }])).toBe("#/race");
  const { overrides, notices } = readLink(readRoute(raceHash([rope])!).query);
  expect(notices).toEqual([]);
  expect(overrides.encodings!.at(-1)).toEqual(unnamed);
  expect(overrides.encodings!.length).toBeGreaterThan(4);
  expect(raceHash([{ type: "from-tomorrow" }])).toBeNull();
});
