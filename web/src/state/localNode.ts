// Builds the node of a message that the server does not have yet.
import type { Schemas } from "../api/client";
import { standIn, type Waiting } from "./outbox.svelte";

export const localNode = (waiting: Waiting): Schemas["NodeView"] & { tags?: string[] } => ({
  id: standIn(waiting.key),
  localId: "",
  conversationId: waiting.conversation,
  turnId: `local-turn-${waiting.key}`,
  turnType: "message",
  label: null,
  contentHash: null,
  editedFrom: null,
  episodeId: null,
  executedBy: null,
  speaker: "user",
  parentAlternativeId: waiting.parent ?? null,
  depth: null,
  ordinal: 1,
  content: waiting.content as unknown as Schemas["NodeView"]["content"],
  authorId: "",
  authorType: "human",
  status: "complete",
  cacheStatus: "valid",
  isActive: true,
  onPath: true,
  hasChildren: false,
  isRedacted: false,
  createdAt: new Date(waiting.at).toISOString(),
  bookmarked: false,
  pruned: false,
  excluded: false,
});
