// Action history: actions of the timeline in words, and the reasons that block an undo. The undo itself is a new action:
// `undoing.ts`.
import type { Schemas } from "../api/client";

type Item = Schemas["ItemView"];
type Marks = Schemas["MarksBody"];

interface Action {
  /** The fact that tells it; of what only this tab knows, a name. */
  id: string;
  /** In milliseconds. */
  at: number;
  /** Among all that happened. */
  place: string;
}
export interface MarksChange extends Action {
  kind: "marked";
  node: string;
  bookmarked?: boolean;
  label?: string;
  pruned?: boolean;
  excluded?: boolean;
  tagged: string[];
  untagged: string[];
}
export interface ConversationChange extends Action {
  kind: "changed";
  conversation: string;
  version: number;
  /** Its hash afterwards. */
  hash: string;
  title: string;
  status: string;
}
/** Turning to another branch: where one stood before is known to the tab that did it. */
export interface BranchMove extends Action {
  kind: "moved";
  conversation: string;
  from: string;
  to: string;
}
/** A change of a versioned record: changed, deleted, archived, restored. */
export interface RecordChange extends Action {
  kind: "recorded";
  /** Author of the change: deleting a tool also removes the secrets that others bound to it. */
  author: string;
  record: string;
  type: RecordType;
  version: number;
  /** Its hash afterwards. */
  hash: string;
  act: "changed" | "deleted" | "archived" | "restored" | "rotated";
}
/** A link that was removed, and what it was; older facts do not tell. */
export interface LinkRemoval extends Action {
  kind: "unlinked";
  relation: string;
  was?: Schemas["NewRelationBody"];
}
export interface SettingChange extends Action {
  kind: "configured";
  setting: string;
  /** Value before; older items do not have it. */
  before?: unknown;
  /** Value after. */
  value?: unknown;
}
/** An address that was allowed until then, as `host:port`. */
export interface AddressRevocation extends Action {
  kind: "refused";
  address: string;
}
/** An action that nobody can undo, with the reason. */
export interface PermanentAction extends Action {
  kind: "final";
  about: string;
  words: string;
  why: string;
}
export type Entry =
  | MarksChange
  | ConversationChange
  | BranchMove
  | RecordChange
  | LinkRemoval
  | SettingChange
  | AddressRevocation
  | PermanentAction;

/** Kinds of records whose changes are listed, as people call them. */
const RECORDED = {
  Service: "service",
  Tool: "tool",
  Process: "process",
  ServiceTemplate: "service template",
  ToolTemplate: "tool template",
  StandingApproval: "standing approval",
  Secret: "secret",
  SecretBinding: "own secret of a tool",
  Project: "project",
} as const;
export type RecordType = keyof typeof RECORDED;
const isRecorded = (type: string): type is RecordType => Object.hasOwn(RECORDED, type);

/** Events that nobody can undo, with the reason. */
const FINAL: Record<string, [words: string, why: string]> = {
  "key.revoked": ["Revoked an API key", "A revoked key cannot be restored. Create another one."],
  "session.ended": ["Signed a browser out", "A new sign-in starts another session."],
  "grant.ended": ["Ended a grant", "Only an administrator can create another one."],
};

/** Action of an item; undefined for the first version of a record and for other kinds of items. */
export function entryOf({ id, _type, realizedAt, cursor, data }: Item): Entry | undefined {
  const told = data as Record<string, never> | null | undefined;
  if (!told) return undefined;
  const act = { id, at: Date.parse(realizedAt), place: cursor };
  switch (_type) {
    case "NodeMarked": {
      const { nodeId, tagged = [], untagged = [], ...marks } = told as unknown as EventData;
      return { kind: "marked", ...act, node: nodeId, tagged, untagged, ...marks };
    }
    case "EntityDelta":
      return deltaOf(act, told as unknown as Delta);
    case "RelationRemoved":
      return removalOf(act, told as unknown as Removal);
    case "SystemEvent":
      return eventOf(act, told as unknown as EventData & SystemEvent);
    default:
      return undefined;
  }
}

function deltaOf(act: Action, { entityType, entityId, version, commit, author, act: how, document }: Delta) {
  if (version < 2) return undefined;
  if (entityType === "Conversation") {
    const { title = "", status = "" } = document?.data ?? {};
    return { kind: "changed" as const, ...act, conversation: entityId, version, hash: commit, title, status };
  }
  if (!isRecorded(entityType)) return undefined;
  return {
    kind: "recorded" as const,
    ...act,
    author,
    record: entityId,
    type: entityType,
    version,
    hash: commit,
    act: how ?? ("changed" as const),
  };
}

function removalOf(act: Action, { relationId, reason: _, ...told }: Removal): LinkRemoval {
  const { kind, source, target } = told;
  const was = kind && source && target ? { ...told, kind, source, target } : undefined;
  return { kind: "unlinked", ...act, relation: relationId, was };
}

function eventOf(act: Action, { event, subject = "", endpoint, ...told }: SystemEvent): Entry | undefined {
  if (event === "setting.changed")
    return { kind: "configured", ...act, setting: subject, before: told.before, value: told.value };
  if (event === "endpoint.refused") return { kind: "refused", ...act, address: endpoint ?? "" };
  const final = FINAL[event];
  return final && { kind: "final", ...act, about: subject, words: final[0], why: final[1] };
}
interface EventData {
  nodeId: string;
  tagged?: string[];
  untagged?: string[];
  bookmarked?: boolean;
  label?: string;
  pruned?: boolean;
  excluded?: boolean;
}
interface Removal extends Partial<Schemas["NewRelationBody"]> {
  relationId: string;
  reason?: string;
}
interface SystemEvent {
  event: string;
  subject?: string;
  endpoint?: string;
  before?: unknown;
  value?: unknown;
}
interface Delta {
  entityType: string;
  entityId: string;
  version: number;
  commit: string;
  author: string;
  act?: RecordChange["act"];
  document?: { data?: { title?: string; status?: string } };
}

const FLAGS = ["bookmarked", "pruned", "excluded"] as const;
const WORDS: Record<(typeof FLAGS)[number], [string, string]> = {
  bookmarked: ["Bookmarked", "Removed the bookmark"],
  pruned: ["Pruned", "Restored"],
  excluded: ["Excluded from context", "Included in context again"],
};

/** The action in words. */
export function wordsOf(entry: Entry): string {
  switch (entry.kind) {
    case "moved":
      return "Switched to another branch";
    case "changed":
      return entry.status === "archived"
        ? "Archived the conversation"
        : "Changed title, instructions or status";
    case "recorded":
      return recordedWords(entry);
    case "unlinked":
      return "Removed a link";
    case "configured":
      return "Changed a setting";
    case "refused":
      return `Revoked ${entry.address}`;
    case "final":
      return entry.words;
    case "marked":
      return markedWords(entry);
  }
}
function recordedWords({ type, act }: RecordChange): string {
  if (type === "StandingApproval" && act === "deleted") return "Revoked a standing approval";
  if (type === "StandingApproval" && act === "changed") return "Renewed a standing approval";
  if (act === "rotated") return "Replaced the value of the secret";
  const done = {
    changed: "Changed",
    deleted: type === "SecretBinding" ? "Removed" : "Deleted",
    archived: type === "Process" ? "Deleted" : "Archived",
    restored: "Restored",
  };
  return `${done[act]} the ${RECORDED[type]}`;
}
function markedWords(entry: MarksChange): string {
  const flags = FLAGS.flatMap((flag) =>
    entry[flag] === undefined ? [] : [WORDS[flag][entry[flag] ? 0 : 1]],
  );
  const tags = [
    ...entry.tagged.map((tag) => `Tagged “${tag}”`),
    ...entry.untagged.map((tag) => `Removed the tag “${tag}”`),
  ];
  return [...flags, ...tags].join(", ") || "Changed the label of a bookmark";
}

/** The marks that take this act back. A label that went with its bookmark comes back with it. */
export function reverseOf(entry: MarksChange, before: readonly Entry[]): Marks {
  const flags = FLAGS.filter((flag) => entry[flag] !== undefined);
  const label = before.find(
    (one): one is MarksChange => one.kind === "marked" && one.node === entry.node && one.label !== undefined,
  )?.label;
  return {
    ...Object.fromEntries(flags.map((flag) => [flag, !entry[flag]])),
    ...(entry.bookmarked === false && label ? { label } : {}),
    tag: entry.untagged,
    untag: entry.tagged,
  };
}

/** Reason why nobody can undo an action; undefined if it can be undone. */
export function lastingBecause(entry: Entry): string | undefined {
  if (entry.kind === "final") return entry.why;
  if (entry.kind === "recorded" && entry.type === "Secret" && entry.act !== "changed")
    return "Deleting or replacing a secret destroys its value.";
  if (entry.kind === "unlinked" && !entry.was) return "This entry does not record the previous value.";
  if (entry.kind === "configured" && entry.before === undefined)
    return "This entry does not record the previous value.";
  return undefined;
}

/** Parts that an action concerns: a later action on the same part blocks its undo. */
function partsOf(entry: Entry): string[] {
  switch (entry.kind) {
    case "moved":
      return [`path/${entry.conversation}`];
    case "changed":
      return [`record/${entry.conversation}`];
    case "recorded":
      return [`record/${entry.record}`];
    case "unlinked":
      return [`relation/${entry.relation}`];
    case "configured":
      return [`setting/${entry.setting}`];
    case "refused":
      return [`address/${entry.address}`];
    case "final":
      return [];
    case "marked":
      return markedParts(entry);
  }
}
function markedParts(entry: MarksChange): string[] {
  const flags = FLAGS.filter((flag) => entry[flag] !== undefined);
  return [
    ...flags,
    ...entry.tagged.map((tag) => `tag ${tag}`),
    ...entry.untagged.map((tag) => `tag ${tag}`),
  ].map((part) => `${entry.node}/${part}`);
}

/** True if `u` undoes it without a question: actions that affect others are undone from the list. */
export const isTakenBackByKey = (entry: Entry): boolean =>
  entry.kind !== "configured" &&
  entry.kind !== "refused" &&
  !(entry.kind === "recorded" && entry.type === "StandingApproval");

export const isAboutTheSame = (one: Entry, other: Entry): boolean => {
  const parts = new Set(partsOf(other));
  return partsOf(one).some((part) => parts.has(part));
};

/** Actions that can be undone, from a list with the newest first; undone actions and undo actions do not count. */
export function undoable(entries: readonly Entry[], settled: ReadonlySet<string>): Set<string> {
  const touched = new Set<string>();
  const found = new Set<string>();
  for (const entry of entries) {
    if (settled.has(entry.id)) continue;
    const parts = partsOf(entry);
    if (parts.length > 0 && !lastingBecause(entry) && !parts.some((part) => touched.has(part)))
      found.add(entry.id);
    parts.forEach((part) => touched.add(part));
  }
  return found;
}
