// SPDX-License-Identifier: MIT
// The words of the Encodings page in English; they are loaded with the page.

export const english = {
  heading: "Encodings",
};
export type EncodingsWords = typeof english;
