// SPDX-License-Identifier: MIT
// A scheme object as a short readable text for links: "rope~theta:500000~scaling.ropeType:ntk". Nested names are joined
// by dots, lists of numbers by semicolons. Characters with a meaning are percent-escaped inside values.

export function writeObject(head: string, rest: Record<string, unknown>): string {
  return [head, ...flatten(rest, "").map(([name, value]) => `${name}:${escape(value)}`)].join("~");
}

function flatten(value: Record<string, unknown>, prefix: string): [string, string][] {
  return Object.entries(value).flatMap(([name, item]): [string, string][] => {
    if (item === undefined) return [];
    if (Array.isArray(item)) return [[prefix + name, `[${item.join(";")}]`]];
    if (item !== null && typeof item === "object") return flatten(item as Record<string, unknown>, `${prefix}${name}.`);
    return [[prefix + name, String(item)]];
  });
}

const escape = (text: string) =>
  text.replace(/[%~,:&=#+]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** null for a text that is not of this form. Names that could reach a prototype are refused. */
export function parseObject(text: string): { head: string; rest: Record<string, unknown> } | null {
  const [head, ...pairs] = text.split("~");
  if (!head) return null;
  const rest: Record<string, unknown> = {};
  for (const pair of pairs) {
    const colon = pair.indexOf(":");
    if (colon < 1) return null;
    const path = pair.slice(0, colon).split(".");
    if (path.length > 3 || !path.every((name) => /^[A-Za-z]\w{0,39}$/.test(name) && name !== "constructor"))
      return null;
    let value: unknown;
    try {
      value = parseValue(decodeURIComponent(pair.slice(colon + 1)));
    } catch {
      return null;
    }
    let at = rest;
    for (const name of path.slice(0, -1)) {
      const next = (at[name] ??= {});
      if (typeof next !== "object" || next === null || Array.isArray(next)) return null;
      at = next as Record<string, unknown>;
    }
    at[path.at(-1)!] = value;
  }
  return { head, rest };
}

function parseValue(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (text.startsWith("[") && text.endsWith("]")) return text.slice(1, -1).split(";").map(Number);
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}
