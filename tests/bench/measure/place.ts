// SPDX-License-Identifier: MIT
// Where is measured, in Node or on a page in Chromium, and what a table is.

import type { PosLab } from "poslab";
import type { Peer } from "../peers/peer.js";
import type { Kernels } from "./kernels.js";
import type { Row, Subject, TimingOptions, Work } from "./timing.js";

export type Variant = "simd" | "relaxed";
export type Topic = "attention" | "position" | "training" | "memory" | "startup" | "size";

export interface Plan {
  topics: Topic[];
  quick: boolean;
}

export interface Place {
  engine: string;
  /** the builds that this engine can start */ variants: Variant[];
  /** a new instance with memory of its own */ kernels: (variant: Variant) => Promise<Kernels>;
  lab: (variant: Variant) => Promise<PosLab>;
  /** loads the libraries on first use */ peers: () => Promise<Peer[]>;
  say: (text: string) => void;
}

export interface Table {
  /** "attention/causal/1024" */ id: string;
  topic: Topic;
  engine: string;
  title: string;
  unit: Work["unit"];
  rows: Row[];
}

/** How cost grows with length for one scheme in one direction. */
export interface Growth {
  engine: string;
  scheme: string;
  direction: "forward" | "backward";
  points: { length: number; milliseconds: number; bytes: number; given: number }[];
  timeExponent: number | null;
  memoryExponent: number | null;
  /** bytes beyond what is given at the greatest length, and what the goals allow */ beyond: number;
  allowed: number;
  failure?: string;
}

export interface Measurements {
  tables: Table[];
  growth: Growth[];
  /** what could not be measured, and why */ failures: string[];
}

/** What the measurements of one place share. */
export interface Bench {
  place: Place;
  quick: boolean;
  timing: TimingOptions;
  kernels: Map<Variant, Kernels>;
  peers: Peer[];
  /** what could not be measured so far */ failures: string[];
  /** register-only multiply-adds of each build, about ten milliseconds a run */ limits: () => Subject[];
}

/** All that a quick run measures beside `none`: those that the goals name. */
const kQuickSchemes = ["shaw", "transformer-xl", "t5", "rope", "alibi", "kerple"];

/** The schemes to be measured, `none` first. */
export function schemesOf(bench: Bench): string[] {
  const [kernels] = bench.kernels.values();
  const known = kernels!.schemeTypes().filter((type) => type !== "none");
  return ["none", ...(bench.quick ? known.filter((type) => kQuickSchemes.includes(type)) : known)];
}

/** What `body` measures, or nothing and a failure: one table must not take the others with it. */
export async function attempt<T>(bench: Bench, what: string, body: () => Promise<T>): Promise<T[]> {
  bench.place.say(what);
  try {
    return [await body()];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    bench.failures.push(`${what}, ${bench.place.engine}: ${reason.split("\n")[0]}`);
    return [];
  }
}

export const variantName = (variant: Variant): string => (variant === "simd" ? "PosLab SIMD" : "PosLab relaxed SIMD");
