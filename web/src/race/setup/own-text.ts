// SPDX-License-Identifier: MIT
// A visitor's own text, pasted or from a file: what is known of it, and why it may be refused.

export interface OwnText {
  bytes: Uint8Array;
  /** null when it is not UTF-8: usable as bytes only */ characters: { symbols: number; distinct: number } | null;
  asBytes: { symbols: number; distinct: number };
}

export const kLargestText = 20 * 1024 * 1024;

/** Counts in pieces, so that a large file does not hold up the page; `yieldNow` lets it breathe. */
export async function readOwnText(bytes: Uint8Array, yieldNow: () => Promise<void> = nextTask): Promise<OwnText> {
  const kPiece = 1 << 18;
  const seenBytes = new Set<number>();
  const seen = new Set<string>();
  let symbols = 0;
  let utf8 = true;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let start = 0; start < bytes.length; start += kPiece) {
    const piece = bytes.subarray(start, start + kPiece);
    for (const byte of piece) seenBytes.add(byte);
    if (utf8) {
      try {
        for (const character of decoder.decode(piece, { stream: start + kPiece < bytes.length })) {
          seen.add(character);
          symbols += 1;
        }
      } catch {
        utf8 = false;
      }
    }
    await yieldNow();
  }
  return {
    bytes,
    characters: utf8 ? { symbols, distinct: seen.size } : null,
    asBytes: { symbols: bytes.length, distinct: seenBytes.size },
  };
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));
