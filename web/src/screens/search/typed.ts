// Filters that are typed among the words: `author:ada model:llama has:tool after:2026-03 "late frost"`.
import type { Query, Speaker } from "./query";

export interface Asked extends Query {
  /** What is left when the filters are taken out. */
  words: string;
  /** A part of somebody's name. */
  author: string;
  /** A part of the name of a model, or of the tool that asks it. */
  model: string;
  /** Only answers for which a tool was called. */
  hasTool: boolean;
  typed: TypedFilter[];
}
export interface TypedFilter {
  /** As it stands in the text. */
  raw: string;
  /** What is meant by it. */
  what: string;
}

const FILTER = /(?<=^|\s)(author|model|has|tag|before|after):("[^"]*"|[^\s"]+)(?=\s|$)/giu;
const SPEAKERS: Record<string, Speaker> = {
  me: "user",
  you: "user",
  user: "user",
  model: "agent",
  agent: "agent",
  assistant: "agent",
  system: "system",
};
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

type Meaning = { changes: Partial<Asked>; what: string };
function meant(name: string, value: string): Meaning | undefined {
  if (name === "author") {
    const speaker = SPEAKERS[value.toLowerCase()];
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

/** What is asked by the words and by the filters, those typed among the words included; what is no filter is a word. */
export function understood(query: Query): Asked {
  const asked: Asked = { ...query, words: "", author: "", model: "", hasTool: false, typed: [] };
  const words = query.text.replace(FILTER, (raw: string, name: string, value: string) => {
    const meaning = meant(name.toLowerCase(), value.replace(/^"|"$/g, "").trim());
    if (!meaning) return raw;
    Object.assign(asked, meaning.changes);
    asked.typed.push({ raw, what: meaning.what });
    return " ";
  });
  asked.words = words.replace(/\s+/g, " ").trim();
  return asked;
}
/** The text without one of its filters. */
export const without = (text: string, raw: string): string =>
  text.replace(raw, " ").replace(/\s+/g, " ").trim();
