// SPDX-License-Identifier: MIT
// Where the focus goes when the button that has it goes away: without that it is lost to the page's beginning.

import { tick } from "svelte";

/** Removes the row (`li`) of the button that was pressed. The row that takes its place gets the focus, or what stands by the empty list. */
export async function removeRow({ currentTarget }: Event, remove: () => unknown): Promise<void> {
  const row = (currentTarget as Element).closest("li")!;
  const list = row.parentElement!;
  const index = [...list.children].indexOf(row);
  await remove();
  await tick();
  const next = [...list.children].slice(0, index + 1).at(-1);
  const button = next ? [...next.querySelectorAll<HTMLElement>("button:enabled")].at(-1) : undefined;
  (button ?? list.parentElement!.querySelector<HTMLElement>("select:enabled, input:enabled, button:enabled"))?.focus();
}
