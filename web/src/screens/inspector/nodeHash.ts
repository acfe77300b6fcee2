// A node's hash, computed in this browser from what the server tells, so that nobody has to believe the server.
import { address, call, send, type Schemas } from "../../api/client";

type Link = Schemas["ProvenanceView"]["data"][number];
const DELIMITER = "=|d|=";

/** The one way to write JSON that is hashed: keys in the order of their code points, no white space. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([one], [other]) => byCodePoint(one, other));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
function byCodePoint(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const step = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (step !== 0) return step;
  }
  return a.length - b.length;
}

export interface HashInput {
  content: unknown;
  parents: readonly string[];
  createdAt: string;
  authorId: string;
  /** Of the model's answer as it was received; people have none. */
  rawResponse?: string;
}
/** The hashed text. */
export function hashedText({ content, parents, createdAt, authorId, rawResponse }: HashInput): string {
  const fields = [
    canonical(content),
    [...parents].sort().join(","),
    createdAt,
    authorId.replace(/^(?:user|entity)_/, ""),
  ];
  return [...fields, ...(rawResponse ? [rawResponse] : [])].join(DELIMITER);
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export interface HashCheck {
  expected: string;
  found: string;
  /** Of the raw response, when its bytes are not those that were kept. */
  raw?: { expected: string; found: string };
}

/** Reads a node again and everything its hash covers, and computes it. */
export async function checkHere(link: Link, signal?: AbortSignal): Promise<HashCheck> {
  const node = await call("get", "/api/v1/nodes/{id}", { params: { id: link.nodeId }, signal });
  const edges = await call("get", "/api/v1/nodes/{id}/edges", { params: { id: link.nodeId }, signal });
  const into = edges.data.find(({ targetId }) => targetId === link.nodeId);
  const sources = into?.sources.filter(({ isVersion }) => !isVersion) ?? [];
  const parents = await Promise.all(
    sources.map(
      async ({ nodeId: id }) =>
        (await call("get", "/api/v1/nodes/{id}", { params: { id }, signal })).contentHash,
    ),
  );
  const raw = link.rawResponse && (await rawOf(link.rawResponse, signal));
  const text = hashedText({
    content: node.content,
    parents: parents.filter((hash): hash is string => typeof hash === "string"),
    createdAt: link.createdAt,
    authorId: link.authorId,
    rawResponse: link.authorType === "model" ? raw?.found : undefined,
  });
  const found = await sha256(new TextEncoder().encode(text));
  return {
    expected: link.contentHash ?? "",
    found,
    raw: raw && raw.found !== raw.expected ? raw : undefined,
  };
}

async function rawOf({ itemId, hash }: Schemas["RawResponseView"], signal?: AbortSignal) {
  const bytes = await rawBytes(itemId, signal);
  return { expected: hash, found: await sha256(bytes) };
}

/** A raw response as it was received: headers, a blank line, the body. */
export async function rawBytes(itemId: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const url = address("/api/v1/items/{id}/payload", { params: { id: itemId } });
  return new Uint8Array(await (await send(url, { method: "GET", signal })).arrayBuffer());
}
