// Undoes each action by its reverse. A later change of the same record is never overwritten.
import { all, call, placed, type Schemas } from "../api/client";
import { Problem } from "../api/problem";
import {
  reverseOf,
  type ConversationChange,
  type SettingChange,
  type Entry,
  type MarksChange,
  type BranchMove,
  type RecordChange,
  type AddressRevocation,
  type LinkRemoval,
} from "./operations";

/** Does the reverse of one act among all that are known, newest first. Tells which version of a record that made, if any. */
export function reverse(
  entry: Exclude<Entry, BranchMove>,
  entries: readonly Entry[],
  byKey = false,
): Promise<number | undefined> {
  switch (entry.kind) {
    case "marked":
      return markBack(entry, entries);
    case "changed":
      return changeBack("conversations", entry.conversation, entry, entries);
    case "recorded":
      return backOf(entry, entries, byKey);
    case "unlinked":
      return linkAgain(entry);
    case "configured":
      return setBack(entry);
    case "refused":
      return allowAgain(entry);
    case "final":
      return Promise.reject(refusal(entry.why));
  }
}

const refusal = (message: string): Problem => new Problem({ status: 409, code: "not_undone", message });

async function markBack(entry: MarksChange, entries: readonly Entry[]): Promise<undefined> {
  const body = reverseOf(entry, entries.slice(entries.indexOf(entry) + 1));
  await call("put", "/api/v1/nodes/{id}/marks", { params: { id: entry.node }, body });
}

/** Goes back to where one stood; tells the place of that among all that happened. */
export async function moveBack({ conversation, from }: BranchMove): Promise<string | undefined> {
  const { turnId } = await call("get", "/api/v1/nodes/{id}", { params: { id: from } });
  return placed("put", "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate", {
    params: { id: conversation, turnId: turnId ?? "", nodeId: from },
  });
}

/** Fields that people change; other differences belong to other actions. */
const CHANGEABLE = {
  conversations: [
    "title",
    "description",
    "systemContext",
    "bufferModeSystemContext",
    "status",
    "tags",
    "processId",
    "contextBudget",
  ],
  projects: ["name", "description"],
  secrets: ["name", "description"],
};

/** Sends what a change altered as it was before, on what there is now. */
async function changeBack(
  kind: keyof typeof CHANGEABLE,
  id: string,
  { version, hash }: ConversationChange | RecordChange,
  entries: readonly Entry[],
): Promise<number> {
  const before = (await changedBy(id, version))
    .filter(({ field }) => CHANGEABLE[kind].includes(field))
    .map((change) => [change.field, change.before ?? null] as const);
  if (before.length === 0) throw refusal("Undo this change on its own screen.");
  const body = { ...Object.fromEntries(before), basedOnHash: newestOf(id, entries) ?? hash };
  return (await call("put", `/api/v1/${kind}/{id}`, { params: { id }, body })).version;
}

async function changedBy(id: string, version: number): Promise<Schemas["ChangeView"][]> {
  const query = { from: version - 1, to: version };
  return (await call("get", "/api/v1/records/{id}/diff", { params: { id }, query })).changes;
}

async function backOf(
  entry: RecordChange,
  entries: readonly Entry[],
  byKey: boolean,
): Promise<number | undefined> {
  const { record: id, version, type } = entry;
  if (type === "Project") return changeBack("projects", id, entry, entries);
  if (type === "Secret") return changeBack("secrets", id, entry, entries);
  if (type === "SecretBinding") return bindAgain(entry);
  const was = await before(entry);
  if (was.deletedAt !== undefined || (type === "Process" && was.archived === true)) {
    await isAsKnown(entry, entries);
    return deleteAgain(entry);
  }
  if (entry.act === "changed") {
    const shared = (await changedBy(id, version)).find(({ field }) => field === "shared");
    if (shared && byKey) throw refusal("Undo a change of sharing from the action history.");
    if (shared) {
      await isAsKnown(entry, entries);
      return shareBack(entry, shared.before === true);
    }
  }
  const body = { version: version - 1, basedOnHash: newestOf(id, entries) ?? entry.hash };
  return (await call("post", "/api/v1/records/{id}/restore", { params: { id }, body })).version;
}

/** Current version of a record, as far as known here: undone actions created versions of their own. */
function newestOf(record: string, entries: readonly Entry[]): string | undefined {
  const about = (entry: Entry): entry is ConversationChange | RecordChange =>
    (entry.kind === "recorded" && entry.record === record) ||
    (entry.kind === "changed" && entry.conversation === record);
  return entries.find(about)?.hash;
}

/** Acts that name no state are not done to one that nobody here has seen. */
async function isAsKnown(entry: RecordChange, entries: readonly Entry[]): Promise<void> {
  const { hash } = await call("get", "/api/v1/records/{id}", { params: { id: entry.record } });
  if (hash !== (newestOf(entry.record, entries) ?? entry.hash))
    throw refusal("Someone else changed it meanwhile. Load the newest version.");
}

async function before({ record, version }: RecordChange): Promise<Record<string, unknown>> {
  const params = { id: record };
  const { data } = await call("get", "/api/v1/records/{id}", { params, query: { version: version - 1 } });
  return data as Record<string, unknown>;
}

async function shareBack({ record: id, type }: RecordChange, shared: boolean): Promise<number> {
  const options = { params: { id }, body: { shared } };
  switch (type) {
    case "Service":
      return (await call("put", "/api/v1/services/{id}/share", options)).version;
    case "ServiceTemplate":
      return (await call("put", "/api/v1/service-templates/{id}", options)).version;
    case "ToolTemplate":
      return (await call("put", "/api/v1/tool-templates/{id}", options)).version;
    default:
      return (await call("put", "/api/v1/tools/{id}/share", options)).version;
  }
}

async function deleteAgain({ record: id, type }: RecordChange): Promise<undefined> {
  const params = { id };
  if (type === "Service") await call("delete", "/api/v1/services/{id}", { params });
  else if (type === "Process") await call("delete", "/api/v1/processes/{id}", { params });
  else if (type === "StandingApproval") await call("delete", "/api/v1/approvals/{id}", { params });
  else await call("delete", "/api/v1/tools/{id}", { params });
}

async function bindAgain(entry: RecordChange): Promise<undefined> {
  const { toolId, secretId } = await before(entry);
  const bound = await all((cursor) =>
    call("get", "/api/v1/records", { query: { type: "SecretBinding", cursor } }),
  );
  const isOther = ({ id, data }: Schemas["RecordView"]) =>
    (data as { toolId?: string }).toolId === toolId && (entry.act === "deleted" || id !== entry.record);
  if (bound.some(isOther)) throw refusal("Another of your secrets is now bound to the tool.");
  await call("put", "/api/v1/tools/{id}/secret", {
    params: { id: String(toolId) },
    body: { secretId: String(secretId) },
  });
}

async function linkAgain({ was }: LinkRemoval): Promise<undefined> {
  if (!was) throw refusal("This entry does not record the previous value.");
  const { source: of, kind } = was;
  const there = await all((cursor) =>
    call("get", "/api/v1/relations", { query: { of, side: "source", kind, cursor } }),
  );
  if (there.some(({ target }) => target === was.target)) throw refusal("The link already exists again.");
  await call("post", "/api/v1/relations", { body: was });
}

async function setBack({ setting, before, value }: SettingChange): Promise<undefined> {
  const params = { name: setting };
  const now = await call("get", "/api/v1/settings/{name}", { params });
  if (JSON.stringify(now.value) !== JSON.stringify(value))
    throw refusal("Someone changed the setting since then.");
  await call("put", "/api/v1/settings/{name}", { params, body: { value: before, basedOnHash: now.hash } });
}

async function allowAgain({ address }: AddressRevocation): Promise<undefined> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(colon + 1));
  await call("post", "/api/v1/allowed-endpoints", { body: { host, port } });
}
