// SPDX-License-Identifier: MIT
// Sets a field of a plain object by its dotted name ("training.warmup"), as the option --set does.

import { Refusal } from "./failure.js";

/** Makes the objects on the way. Refuses to walk through something that is not an object, or into a prototype. */
export function setField(target: object, path: string, value: unknown, option: string): void {
  const names = path.split(".");
  let place = target as Record<string, unknown>;
  names.forEach((name, index) => {
    if (name === "" || name === "__proto__" || name === "constructor" || name === "prototype") {
      throw new Refusal(`option '${option}': "${path}" is not the name of a field`);
    }
    if (index === names.length - 1) {
      place[name] = value;
      return;
    }
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    if (next === undefined) place[name] = {};
    else if (typeof next !== "object" || next === null) {
      throw new Refusal(
        `option '${option}': ${names.slice(0, index + 1).join(".")} has no fields, it is ${JSON.stringify(next)}`,
      );
    }
    place = place[name] as Record<string, unknown>;
  });
}
