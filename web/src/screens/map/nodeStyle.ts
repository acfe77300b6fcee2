// Style of an entry: colour by the chosen property, with a shape, a letter or a hollow as the second sign.
import type { Author, Forest } from "./forest";

export type ColourBy = "speaker" | "process" | "stale" | "age";
export type Shape = "square" | "circle" | "triangle" | "diamond";
export type Ink =
  | "person"
  | "accent"
  | "note"
  | "warning"
  | "success"
  | "danger"
  | "text"
  | "textSoft"
  | "textFaint"
  | "line"
  | "lineStrong"
  | "surface"
  | "bg"
  | "accentSoft";

export interface Look {
  ink: Ink;
  shape: Shape;
  hollow?: boolean;
  letter?: string;
}
export interface LegendEntry extends Look {
  label: string;
}

const SHAPES: Record<Author, Shape> = {
  person: "square",
  model: "circle",
  system: "triangle",
  imported: "diamond",
};
const INKS: Record<Author, Ink> = {
  person: "person",
  model: "accent",
  system: "note",
  imported: "warning",
};
const SPOKEN: Record<Author, string> = {
  person: "Person",
  model: "Model",
  system: "System",
  imported: "Imported",
};
export const spoken = (author: Author): string => SPOKEN[author];
const CYCLE: Ink[] = ["accent", "person", "warning", "note", "success", "danger"];

const HOUR_MS = 3_600_000;
/** Age steps, newest first: each has a colour and a letter. */
const AGES: { within: number; ink: Ink; letter: string; label: string }[] = [
  { within: HOUR_MS, ink: "success", letter: "h", label: "In the last hour" },
  { within: 24 * HOUR_MS, ink: "accent", letter: "d", label: "In the last day" },
  { within: 7 * 24 * HOUR_MS, ink: "note", letter: "w", label: "In the last week" },
  { within: Infinity, ink: "textFaint", letter: "o", label: "Older" },
];
export const ageOf = (createdAt: number, now: number): number =>
  AGES.findIndex(({ within }) => now - createdAt < within);

/** Which process made which node, in the order processes first came up. */
export interface Makers {
  names: readonly string[];
  of: ReadonlyMap<number, number>;
}

export function lookOf(forest: Forest, at: number, by: ColourBy, makers: Makers | undefined): Look {
  const shape = SHAPES[forest.author(at)];
  const hollow = forest.stale[at] === 1;
  if (forest.status(at) === "failed") return { ink: "danger", shape, hollow: true, letter: "!" };
  if (by === "stale") {
    if (forest.status(at) === "pending") return { ink: "note", shape, letter: "…" };
    return hollow ? { ink: "warning", shape, hollow } : { ink: "success", shape };
  }
  if (by === "process") {
    const maker = makers?.of.get(at);
    if (maker === undefined) return { ink: "textFaint", shape, hollow: true };
    return { ink: inkOf(maker), shape: "circle", hollow, letter: letterOf(maker) };
  }
  if (by === "age") {
    const age = AGES[ageOf(forest.createdAt(at), Date.now())];
    return { ink: age?.ink ?? "textFaint", shape, hollow, letter: age?.letter };
  }
  return { ink: INKS[forest.author(at)], shape, hollow };
}

const inkOf = (maker: number): Ink => CYCLE[maker % CYCLE.length] ?? "accent";
const letterOf = (maker: number): string => String.fromCharCode(65 + (maker % 26));

export function legendOf(
  by: ColourBy,
  authors: readonly Author[],
  makers: Makers | undefined,
): LegendEntry[] {
  if (by === "stale")
    return [
      { label: "Replies to the version shown above", ink: "success", shape: "circle" },
      { label: "Stale: replies to a different version", ink: "warning", shape: "circle", hollow: true },
      { label: "Running", ink: "note", shape: "circle", letter: "…" },
    ];
  if (by === "age") return AGES.map(({ ink, letter, label }) => ({ ink, letter, label, shape: "circle" }));
  if (by === "process")
    return [
      ...(makers?.names ?? []).map((label, index): LegendEntry => ({
        label,
        ink: inkOf(index),
        shape: "circle",
        letter: letterOf(index),
      })),
      { label: "No process", ink: "textFaint", shape: "square", hollow: true },
    ];
  return authors.map((author) => ({ label: SPOKEN[author], ink: INKS[author], shape: SHAPES[author] }));
}
