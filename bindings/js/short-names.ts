// SPDX-License-Identifier: MIT
// Names cut to the room that there is, such that different names stay different: at the end where that tells them apart,
// otherwise in the middle, so that both their beginning and what differs is seen.

export function shortNames(names: readonly string[], fits: (text: string) => boolean): string[] {
  const letters = names.map((name) => Array.from(name));
  const shown = letters.map((own) => cutEnd(own, "", fits));
  const tellApart = (members: readonly number[]): void => {
    for (const group of byText(members, shown)) {
      const differs = firstDifference(group.map((member) => letters[member]!));
      if (differs === null) continue;
      for (const member of group) shown[member] = cutMiddle(letters[member]!, differs, fits);
      // Without room for what differs the texts stay the same.
      if (byText(group, shown).length > 1) tellApart(group);
    }
  };
  tellApart(names.map((_, index) => index));
  return shown;
}

function byText(members: readonly number[], texts: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const member of members) groups.set(texts[member]!, [...(groups.get(texts[member]!) ?? []), member]);
  return [...groups.values()];
}

/** null where all are the same */
function firstDifference(group: readonly string[][]): number | null {
  const [first, ...others] = group;
  for (let at = 0; at < Math.max(...group.map((own) => own.length)); at += 1) {
    if (others.some((own) => own[at] !== first![at])) return at;
  }
  return null;
}

function cutEnd(own: readonly string[], before: string, fits: (text: string) => boolean): string {
  let text = before + own.join("");
  for (let length = own.length - 1; length > 0 && !fits(text); length -= 1)
    text = `${before}${own.slice(0, length).join("")}…`;
  return text;
}

/** Keeps what stands from `from` on, and as much before it and at the beginning as there is room for. */
function cutMiddle(own: readonly string[], from: number, fits: (text: string) => boolean): string {
  const text = (head: number, tail: number): string => `${own.slice(0, head).join("")}…${own.slice(tail).join("")}`;
  if (fits(own.join(""))) return own.join("");
  if (!fits(text(1, from))) return cutEnd(own.slice(from), `${own[0]}…`, fits);
  let head = 1,
    tail = from;
  while (fits(text(head + 1, tail))) {
    head += 1;
    if (fits(text(head, tail - 1))) tail -= 1;
  }
  return text(head, tail);
}
