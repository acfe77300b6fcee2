import type { Schemas } from "../api/client";

/** Title of a conversation; before its first message only that it is new. */
export function titleOf(
  conversation: Pick<Schemas["ConversationView"], "title" | "nodes"> | undefined,
): string {
  if (!conversation) return "Conversation";
  return conversation.nodes === 0 && /^Loom Tree \d+$/.test(conversation.title)
    ? "New conversation"
    : conversation.title;
}
