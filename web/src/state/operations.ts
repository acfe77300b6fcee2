// What was done to conversations, as the timeline tells it, and how each act is taken back: by doing the reverse, which is an act of its own.
import type { Schemas } from "../api/client";

type Item = Schemas["ItemView"];
type Marks = Schemas["MarksBody"];

interface Act {
  /** The fact that tells it; of what only this tab knows, a name. */
  id: string;
  /** In milliseconds. */
  at: number;
}
export interface Marked extends Act {
  kind: "marked";
  node: string;
  bookmarked?: boolean;
  label?: string;
  pruned?: boolean;
  excluded?: boolean;
  tagged: string[];
  untagged: string[];
}
export interface Changed extends Act {
  kind: "changed";
  conversation: string;
  version: number;
  title: string;
  status: string;
}
/** Turning to another branch: where one stood before is known to the tab that did it. */
export interface Moved extends Act {
  kind: "moved";
  conversation: string;
  from: string;
  to: string;
}
export type Entry = Marked | Changed | Moved;

/** What a fact tells of; nothing for the first version of a record, and for what is no act on a conversation. */
export function entryOf({ id, _type, realizedAt, data }: Item): Entry | undefined {
  const told = data as Record<string, never> | null | undefined;
  if (!told) return undefined;
  const at = Date.parse(realizedAt);
  if (_type === "NodeMarked") {
    const { nodeId, tagged = [], untagged = [], ...marks } = told as unknown as Told;
    return { kind: "marked", id, at, node: nodeId, tagged, untagged, ...marks };
  }
  const { entityType, entityId, version, document } = told as unknown as Delta;
  if (_type !== "EntityDelta" || entityType !== "Conversation" || version < 2) return undefined;
  const { title = "", status = "" } = document?.data ?? {};
  return { kind: "changed", id, at, conversation: entityId, version, title, status };
}
interface Told {
  nodeId: string;
  tagged?: string[];
  untagged?: string[];
  bookmarked?: boolean;
  label?: string;
  pruned?: boolean;
  excluded?: boolean;
}
interface Delta {
  entityType: string;
  entityId: string;
  version: number;
  document?: { data?: { title?: string; status?: string } };
}

const FLAGS = ["bookmarked", "pruned", "excluded"] as const;
const WORDS: Record<(typeof FLAGS)[number], [string, string]> = {
  bookmarked: ["Bookmarked", "Took the bookmark away"],
  pruned: ["Pruned", "Brought back"],
  excluded: ["Left out of the context", "Took into the context again"],
};

/** What was done, in words. */
export function wordsOf(entry: Entry): string {
  if (entry.kind === "moved") return "Turned to another branch";
  if (entry.kind === "changed")
    return entry.status === "archived"
      ? "Archived the conversation"
      : "Changed title, instructions or status";
  const flags = FLAGS.flatMap((flag) =>
    entry[flag] === undefined ? [] : [WORDS[flag][entry[flag] ? 0 : 1]],
  );
  const tags = [
    ...entry.tagged.map((tag) => `Tagged “${tag}”`),
    ...entry.untagged.map((tag) => `Took the tag “${tag}” away`),
  ];
  return [...flags, ...tags].join(", ") || "Changed the label of a bookmark";
}

/** The marks that take this act back. A label that went with its bookmark comes back with it. */
export function reverseOf(entry: Marked, before: readonly Entry[]): Marks {
  const flags = FLAGS.filter((flag) => entry[flag] !== undefined);
  const label = before.find(
    (one): one is Marked => one.kind === "marked" && one.node === entry.node && one.label !== undefined,
  )?.label;
  return {
    ...Object.fromEntries(flags.map((flag) => [flag, !entry[flag]])),
    ...(entry.bookmarked === false && label ? { label } : {}),
    tag: entry.untagged,
    untag: entry.tagged,
  };
}

/** What an act is about, part by part: a later act on the same part stands in the way of taking this one back. */
function partsOf(entry: Entry): string[] {
  if (entry.kind === "moved") return [`path/${entry.conversation}`];
  if (entry.kind === "changed") return [`record/${entry.conversation}`];
  const flags = FLAGS.filter((flag) => entry[flag] !== undefined);
  return [
    ...flags,
    ...entry.tagged.map((tag) => `tag ${tag}`),
    ...entry.untagged.map((tag) => `tag ${tag}`),
  ].map((part) => `${entry.node}/${part}`);
}

export const isAboutTheSame = (one: Entry, other: Entry): boolean => {
  const parts = new Set(partsOf(other));
  return partsOf(one).some((part) => parts.has(part));
};

/** Which acts can be taken back, of a list with the newest first; what was taken back and what took it back count for nothing. */
export function undoable(entries: readonly Entry[], settled: ReadonlySet<string>): Set<string> {
  const touched = new Set<string>();
  const found = new Set<string>();
  for (const entry of entries) {
    if (settled.has(entry.id)) continue;
    const parts = partsOf(entry);
    if (parts.length > 0 && !parts.some((part) => touched.has(part))) found.add(entry.id);
    parts.forEach((part) => touched.add(part));
  }
  return found;
}
