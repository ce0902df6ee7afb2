// SPDX-License-Identifier: MIT
// The few pieces that every drawn SVG needs: escaped text, short numbers for coordinates, and a frame with a title that
// screen readers announce.

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for SVG content or an attribute; characters that XML 1.0 forbids are dropped. */
export function escapeXml(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters to drop
  const allowed = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  return allowed.replace(/[&<>"']/g, (c) => entities[c]!);
}

/** A coordinate with at most two decimals: a hundredth of a pixel is more than any screen shows. */
export function coordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const kWide =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3ffff}]|\p{Emoji_Presentation})/u;

/** Whether a character is about as wide as high: those of East Asian scripts with their marks, and pictures. */
export const isWide = (character: string): boolean => kWide.test(character);

/** Roughly, where a character is `narrow` or `wide`. */
export const textWidth = (text: string, narrow: number, wide: number): number =>
  Array.from(text).reduce((sum, character) => sum + (isWide(character) ? wide : narrow), 0);

/** A number as people read it: "1,024". */
export const groupedDigits = (value: number): string => value.toLocaleString("en-US");

export interface SvgTheme {
  background: string;
  text: string;
  faint: string;
  grid: string;
}
export const lightTheme: SvgTheme = { background: "#ffffff", text: "#1d1d1f", faint: "#5c5c61", grid: "#e3e3e6" };
export const darkTheme: SvgTheme = { background: "#17181b", text: "#ececf0", faint: "#a6a6ad", grid: "#33343a" };

/** A whole document of `width` x `height` with `body` in it. `title` and `description` are for screen readers and tooltips. */
export function svgDocument(
  width: number,
  height: number,
  theme: SvgTheme,
  title: string,
  description: string,
  body: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"` +
      ` aria-labelledby="title description" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="12"` +
      ` fill="${theme.text}" style="font-variant-numeric: tabular-nums">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    `<rect width="${width}" height="${height}" fill="${theme.background}"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}
