// Parses references to nodes: an id, or the address of a turn with its short id.
import { call } from "../api/client";

const ID = /item_[0-7][0-9A-HJKMNP-TV-Z]{25}/;
const ADDRESS = /\/c\/([^/?#\s]+)\/n\/([^/?#\s]+)/;
export type NodeReference = { id: string } | { conversation: string; localId: string };

export function parseNodeReference(text: string): NodeReference | undefined {
  const [, conversation, name] = ADDRESS.exec(text) ?? [];
  if (conversation && name && !ID.test(name)) return { conversation, localId: decodeURIComponent(name) };
  const id = ID.exec(name ?? text)?.[0];
  return id === undefined ? undefined : { id };
}

/** Error for a text that names no node. */
export const nodeReferenceFault = (text: string): string | undefined =>
  text.trim() && !parseNodeReference(text) ? "Paste the id of a node or a link to it." : undefined;

export async function resolveNodeId(named: NodeReference): Promise<string> {
  if ("id" in named) return named.id;
  const params = { id: named.conversation, localId: named.localId };
  return (await call("get", "/api/v1/conversations/{id}/nodes/{localId}", { params })).id;
}
