// SPDX-License-Identifier: MIT
// The words of the Attention page in English; they are loaded with the page.

export const english = {
  heading: "Attention",
};
export type AttentionWords = typeof english;
