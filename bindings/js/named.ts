// SPDX-License-Identifier: MIT

/** What a table says of a name from outside, which may be "constructor". */
export function named<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
