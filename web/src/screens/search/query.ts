// The query of a search: words and filters, as they stand in the address.
export type Speaker = "" | "user" | "agent" | "system" | "brought";
const SPEAKERS: readonly string[] = ["user", "agent", "system", "brought"] satisfies Speaker[];

export interface Query {
  text: string;
  speaker: Speaker;
  conversation: string;
  tag: string;
  isBookmarked: boolean;
  /** A day, as `2026-11-15`. */
  since: string;
  /** The last day. */
  until: string;
  /** Only on the paths that are shown, not on the branches beside them. */
  isShownOnly: boolean;
}

const dayOf = (text: string | undefined): string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : "";

export function queryOf(read: (name: string) => string | undefined): Query {
  const speaker = read("speaker");
  return {
    text: read("q") ?? "",
    speaker: SPEAKERS.includes(speaker ?? "") ? (speaker as Speaker) : "",
    conversation: read("in") ?? "",
    tag: read("tag") ?? "",
    isBookmarked: read("bookmarked") === "yes",
    since: dayOf(read("since")),
    until: dayOf(read("until")),
    isShownOnly: read("branches") === "shown",
  };
}

/** The address of a query: what is not asked is not named. */
export const inAddress = (query: Query): Record<string, string | undefined> => ({
  q: query.text.trim() || undefined,
  speaker: query.speaker || undefined,
  in: query.conversation || undefined,
  tag: query.tag || undefined,
  bookmarked: query.isBookmarked ? "yes" : undefined,
  since: query.since || undefined,
  until: query.until || undefined,
  branches: query.isShownOnly ? "shown" : undefined,
});

export const isFiltered = (query: Query): boolean =>
  Boolean(
    query.speaker ||
    query.conversation ||
    query.tag ||
    query.isBookmarked ||
    query.since ||
    query.until ||
    query.isShownOnly,
  );

export interface Hit {
  /** Of the episode that remembers it. */
  id: string;
  /** Node of the hit; an imported episode may have none. */
  nodeId?: string;
  conversationId?: string;
  speaker: string | null;
  createdAt: string;
  snippet: string;
  words: readonly string[];
  /** On a branch that no path shows. */
  isAside?: boolean;
  imported?: ImportedOrigin;
  /** Author of the hit. */
  actorId?: string;
}

/** Origin of an imported episode. */
export interface ImportedOrigin {
  /** text, message or json. */
  source: string;
  saidBy: string | null;
  /** Time of the import. */
  knownAt: string;
}
/** Names of the kinds of imported episodes. */
export const IMPORTED_KINDS: Record<string, string> = {
  text: "Text",
  message: "Message",
  json: "Document",
  summary: "Summary",
  introspection: "Observation",
};

/** A node and its episode share their number; an imported episode has its own. */
export const remembers = (episode: string, node: string): boolean =>
  episode.slice(episode.indexOf("_")) === node.slice(node.indexOf("_"));

export function passes(hit: Hit, query: Query, among: ReadonlySet<string> | undefined): boolean {
  if (query.speaker === "brought" ? !hit.imported : query.speaker && hit.speaker !== query.speaker)
    return false;
  if (query.conversation && hit.conversationId !== query.conversation) return false;
  if (query.since && hit.createdAt < query.since) return false;
  // A day begins with its date, so later days are greater and its own times are not.
  if (query.until && hit.createdAt.slice(0, query.until.length) > query.until) return false;
  return !among || (!hit.imported && among.has(hit.nodeId ?? ""));
}

export interface Group {
  /** Nothing for what has no place in a conversation. */
  conversation: string | undefined;
  hits: Hit[];
}
/** By conversation, in the order their best hit came. */
export function grouped(hits: readonly Hit[]): Group[] {
  const groups = new Map<string | undefined, Hit[]>();
  for (const hit of hits) groups.set(hit.conversationId, [...(groups.get(hit.conversationId) ?? []), hit]);
  return [...groups].map(([conversation, found]) => ({ conversation, hits: found }));
}

/** A text in stretches that were found and stretches between them. */
export function marked(text: string, words: readonly string[]): { text: string; isFound: boolean }[] {
  const sought = words.filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (sought.length === 0) return [{ text, isFound: false }];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${sought.join("|")})[\\p{L}\\p{N}]*`, "giu");
  const parts: { text: string; isFound: boolean }[] = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index), isFound: false });
    parts.push({ text: found[0], isFound: true });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isFound: false });
  return parts;
}

/** Shorter questions, when a long one finds nothing. */
export function relaxed(text: string): string[] {
  const words = [...new Set(text.split(/\s+/).filter((word) => word.length > 2))];
  const stems = words
    .filter((word) => word.length > 5)
    .map((word) => word.slice(0, Math.ceil(word.length * 0.7)));
  return [...(words.length > 1 ? words : []), ...stems].slice(0, 6);
}
