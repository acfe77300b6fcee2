// Filters that are typed among the words: `author:ada model:llama has:tool after:2026-03 "late frost"`.
import type { Query, Speaker } from "./query";

export interface ParsedQuery extends Query {
  /** Words without the filters. */
  words: string;
  /** A part of somebody's name. */
  author: string;
  /** A part of the name of the model that answered. */
  model: string;
  /** Only answers for which a tool was called. */
  hasTool: boolean;
  typed: TypedFilter[];
}
export interface TypedFilter {
  /** As it stands in the text. */
  raw: string;
  /** Meaning of the filter in words. */
  what: string;
  /** Not when a later one asks for something else of the same kind. */
  isHeeded: boolean;
}

/** A filter, or a phrase in quotes, in which nothing is one. */
const FILTER = /"[^"]*"|(?<=^|\s)(author|model|has|tag|before|after):("[^"]*"|[^\s"]+)(?=\s|$)/giu;
const SPEAKERS = new Map<string, Speaker>([
  ["me", "user"],
  ["you", "user"],
  ["user", "user"],
  ["model", "agent"],
  ["agent", "agent"],
  ["assistant", "agent"],
  ["system", "system"],
]);
const SPEAKER_WORDS: Record<string, string> = { user: "by you", agent: "by models", system: "by the system" };
const DAY_MS = 86_400_000;

/** The first day of a year, a month or a day. */
function dayOf(text: string): string | undefined {
  const found = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(text);
  if (!found) return;
  const day = `${found[1]}-${found[2] ?? "01"}-${found[3] ?? "01"}`;
  const time = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(time.getTime()) || !time.toISOString().startsWith(day) ? undefined : day;
}
const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);

type Meaning = { changes: Partial<ParsedQuery>; what: string };
function meant(name: string, value: string): Meaning | undefined {
  if (!value) return;
  if (name === "author") {
    const speaker = SPEAKERS.get(value.toLowerCase());
    if (speaker) return { changes: { speaker }, what: SPEAKER_WORDS[speaker] ?? speaker };
    return { changes: { author: value }, what: `by ${value}` };
  }
  if (name === "model") return { changes: { model: value, speaker: "agent" }, what: `answered by ${value}` };
  if (name === "tag") return { changes: { tag: value }, what: `tagged ${value}` };
  if (name === "has") {
    if (/^tools?$/i.test(value))
      return { changes: { hasTool: true, speaker: "agent" }, what: "a tool was called" };
    if (/^bookmarks?$/i.test(value)) return { changes: { isBookmarked: true }, what: "bookmarked" };
    return;
  }
  const day = dayOf(value);
  if (!day) return;
  if (name === "after") return { changes: { since: day }, what: `since ${day}` };
  return { changes: { until: dayBefore(day) }, what: `before ${day}` };
}

/** Parses words and filters, typed filters included; text that is no filter is a word. */
export function parseQuery(query: Query): ParsedQuery {
  const meanings = new Map<string, Meaning>();
  const words = query.text.replace(FILTER, (raw: string, name?: string, value = "") => {
    const meaning = name && meant(name.toLowerCase(), value.replace(/^"|"$/g, "").trim());
    if (!meaning) return raw;
    // The same again says nothing more, but it is the last one now.
    meanings.delete(raw);
    meanings.set(raw, meaning);
    return " ";
  });
  const changes: Partial<ParsedQuery> = {};
  const typed: TypedFilter[] = [];
  for (const [raw, meaning] of [...meanings].reverse()) {
    const isHeeded = agrees(meaning.changes, changes);
    if (isHeeded) Object.assign(changes, meaning.changes);
    typed.unshift({ raw, what: meaning.what, isHeeded });
  }
  const plain = { words: words.replace(/\s+/g, " ").trim(), author: "", model: "", hasTool: false };
  return { ...query, ...plain, ...changes, typed };
}
const agrees = (one: Partial<ParsedQuery>, other: Partial<ParsedQuery>): boolean =>
  (Object.keys(one) as (keyof ParsedQuery)[]).every(
    (key) => other[key] === undefined || other[key] === one[key],
  );

/** True if the query has words or marks to find: some filters only narrow them. */
export const isAsked = ({ words, tag, isBookmarked }: ParsedQuery): boolean =>
  words !== "" || tag !== "" || isBookmarked;

/** The text without one of its filters, however often it stands there. */
export const without = (text: string, raw: string): string =>
  text
    .replace(FILTER, (found) => (found === raw ? " " : found))
    .replace(/\s+/g, " ")
    .trim();
