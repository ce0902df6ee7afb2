// SPDX-License-Identifier: MIT
// Sliders as mappings between places and values: evenly, by factors where the range is wide, by doublings, or by stops.

/** More than this between the ends of a slider, and it moves by factors instead of steps. */
const kWide = 1000;
const kSliderSteps = 400;

export interface Slider {
  maximum: number;
  /** where a value stands, 0 ... maximum */ placeOf: (value: number) => number;
  valueAt: (place: number) => number;
}

export function sliderFor(field: { kind: "integer" | "number"; minimum: number; maximum: number }): Slider {
  const { kind, minimum, maximum } = field;
  const start = Math.max(minimum, kind === "integer" ? 1 : Number.MIN_VALUE);
  if (maximum / start <= kWide) {
    const steps = kind === "integer" ? maximum - minimum : kSliderSteps;
    return {
      maximum: steps,
      placeOf: (value) => Math.round(((value - minimum) / (maximum - minimum)) * steps),
      valueAt: (place) => tidy(minimum + ((maximum - minimum) * place) / steps, kind),
    };
  }
  return {
    maximum: kSliderSteps,
    placeOf: (value) =>
      Math.round((Math.log(Math.max(value, start) / start) / Math.log(maximum / start)) * kSliderSteps),
    valueAt: (place) => tidy(start * (maximum / start) ** (place / kSliderSteps), kind),
  };
}

/** Three digits are enough for a hand on a slider. */
const tidy = (value: number, kind: "integer" | "number") =>
  kind === "integer" ? Math.round(value) : Number(value.toPrecision(3));

/** Sizes go by doublings. */
export function doublingSlider(minimum: number, maximum: number): Slider {
  const first = Math.ceil(Math.log2(minimum));
  return {
    maximum: Math.floor(Math.log2(maximum)) - first,
    placeOf: (value) => Math.round(Math.log2(value)) - first,
    valueAt: (place) => 2 ** (first + place),
  };
}

/** These values and no others; between two of them a value stands at the lower one. */
export const stopsSlider = (stops: readonly number[]): Slider => ({
  maximum: stops.length - 1,
  placeOf: (value) =>
    Math.max(
      0,
      stops.findLastIndex((stop) => stop <= value),
    ),
  valueAt: (place) => stops[place]!,
});
