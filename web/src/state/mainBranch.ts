// Finds the main branch of a conversation: the path through the node with this tag. Imports may set the tag too.
import { all, call } from "../api/client";

export const CANONICAL = "canonical";

/** The node with the tag; the newest, if an import has several. */
export async function canonicalOf(conversation: string): Promise<string | undefined> {
  const tagged = await all((cursor) =>
    call("get", "/api/v1/nodes", { query: { tag: CANONICAL, cursor, limit: 1000 } }),
  );
  return tagged.find(({ conversationId }) => conversationId === conversation)?.id;
}
