// How each act is taken back: by doing the reverse.
import { call, type Schemas } from "../api/client";
import { reverseOf, type Entry, type Marked, type Recorded, type Refused } from "./operations";

type Moved = Extract<Entry, { kind: "moved" }>;
type Undo = {
  [K in Exclude<Entry["kind"], "final">]: (
    entry: Extract<Entry, { kind: K }>,
    entries: readonly Entry[],
  ) => Promise<unknown>;
};

const UNDO: Undo = {
  marked: (entry: Marked, entries) =>
    call("put", "/api/v1/nodes/{id}/marks", {
      params: { id: entry.node },
      body: reverseOf(entry, entries.slice(entries.indexOf(entry) + 1)),
    }),
  moved: moveBack,
  changed: ({ conversation, version }) => changeBack("conversations", conversation, version),
  recorded: backOf,
  unlinked: ({ was }) => call("post", "/api/v1/relations", { body: was as Schemas["NewRelationBody"] }),
  configured: ({ setting, before }) =>
    call("put", "/api/v1/settings/{name}", { params: { name: setting }, body: { value: before } }),
  refused: allowAgain,
};

/** Does the reverse of one act among all that are known, newest first. */
export function reverse(entry: Entry, entries: readonly Entry[]): Promise<unknown> {
  if (entry.kind === "final") return Promise.reject(new Error(entry.why));
  const undo = UNDO[entry.kind] as (entry: Entry, entries: readonly Entry[]) => Promise<unknown>;
  return undo(entry, entries);
}

async function moveBack({ conversation, from }: Moved): Promise<void> {
  const { turnId } = await call("get", "/api/v1/nodes/{id}", { params: { id: from } });
  await call("put", "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate", {
    params: { id: conversation, turnId: turnId ?? "", nodeId: from },
  });
}

/** Sends what a change altered as it was before, on what there is now. */
async function changeBack(
  kind: "conversations" | "projects" | "secrets",
  id: string,
  version: number,
): Promise<void> {
  const [{ changes }, { hash }] = await Promise.all([
    call("get", "/api/v1/records/{id}/diff", { params: { id }, query: { from: version - 1, to: version } }),
    call("get", `/api/v1/${kind}/{id}`, { params: { id } }),
  ]);
  const before = Object.fromEntries(changes.map((change) => [change.field, change.before ?? null]));
  await call("put", `/api/v1/${kind}/{id}`, { params: { id }, body: { ...before, basedOnHash: hash } });
}

async function backOf(entry: Recorded, entries: readonly Entry[]): Promise<unknown> {
  const { record: id, version } = entry;
  switch (entry.type) {
    case "Project":
      return changeBack("projects", id, version);
    case "Secret":
      return changeBack("secrets", id, version);
    case "SecretBinding":
      return bindAgain(entry);
  }
  const was = await before(entry);
  if (was.deletedAt !== undefined || (entry.type === "Process" && was.archived === true))
    return deleteAgain(entry);
  return call("post", "/api/v1/records/{id}/restore", {
    params: { id },
    body: { version: version - 1, basedOnHash: newestOf(id, entries) ?? entry.hash },
  });
}

/** As a record is now, as far as is known here: what was taken back in between made versions of its own. */
function newestOf(record: string, entries: readonly Entry[]): string | undefined {
  const about = (entry: Entry): entry is Recorded => entry.kind === "recorded" && entry.record === record;
  return entries.find(about)?.hash;
}

async function before({ record, version }: Recorded): Promise<Record<string, unknown>> {
  const params = { id: record };
  const { data } = await call("get", "/api/v1/records/{id}", { params, query: { version: version - 1 } });
  return data as Record<string, unknown>;
}

function deleteAgain({ record: id, type }: Recorded): Promise<unknown> {
  const params = { id };
  switch (type) {
    case "Service":
      return call("delete", "/api/v1/services/{id}", { params });
    case "Process":
      return call("delete", "/api/v1/processes/{id}", { params });
    case "StandingApproval":
      return call("delete", "/api/v1/approvals/{id}", { params });
    default:
      return call("delete", "/api/v1/tools/{id}", { params });
  }
}

async function bindAgain(entry: Recorded): Promise<void> {
  const { toolId, secretId } = await before(entry);
  await call("put", "/api/v1/tools/{id}/secret", {
    params: { id: String(toolId) },
    body: { secretId: String(secretId) },
  });
}

function allowAgain({ address }: Refused): Promise<unknown> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  return call("post", "/api/v1/allowed-endpoints", {
    body: { host, port: Number(address.slice(colon + 1)) },
  });
}
