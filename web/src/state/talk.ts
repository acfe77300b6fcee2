// What can be done in a conversation: each function is one act of a person, shown at once and taken back when refused.
import { call, newKey, type Schemas } from "../api/client";
import { look } from "../api/look";
import { dropDraft } from "./drafts";
import type { Content } from "./content";
import { textOf } from "./content";
import type { Conversation, Node } from "./conversation.svelte";

type Answers = Schemas["Mutated_AnsweringView"];

/** Stands in for a node until the server has it. */
function localNode(
  conversation: Conversation,
  parent: string | undefined,
  turn: string,
  content: Content,
  ordinal: number,
): Node {
  return {
    id: `local-${newKey()}`,
    localId: "",
    conversationId: conversation.id,
    turnId: turn,
    turnType: "message",
    speaker: "user",
    parentAlternativeId: parent,
    depth: null,
    ordinal,
    content: content as unknown as Node["content"],
    authorId: "",
    authorType: "human",
    status: "complete",
    cacheStatus: "valid",
    isActive: true,
    onPath: true,
    hasChildren: false,
    isRedacted: false,
    createdAt: new Date().toISOString(),
    bookmarked: false,
    pruned: false,
    excluded: false,
  };
}

/** Says something at the end of a path, and asks processes for answers. Throws after it took back what was shown. */
export async function say(
  conversation: Conversation,
  parent: string | undefined,
  content: Content,
  processIds: string[],
  samples: number,
  draftPlace: string,
): Promise<void> {
  const { id } = conversation;
  const before = conversation.cursor;
  const local = localNode(conversation, parent, `local-${newKey()}`, content, 1);
  conversation.take(local);
  conversation.turnTo(local.id);
  let said: Node;
  try {
    const grown = (await call("post", "/api/v1/conversations/{id}/turns", {
      params: { id },
      body: { parentAlternativeId: parent, content: content as never, speaker: "user" },
    })) as Schemas["Mutated_GrownView"];
    said = grown.node;
  } catch (error) {
    conversation.removeLocal(local.id);
    if (before) conversation.turnTo(before);
    throw error;
  }
  dropDraft(draftPlace);
  conversation.removeLocal(local.id);
  conversation.take(said);
  conversation.turnTo(said.id);
  if (processIds.length > 0) await answerAfter(conversation, said.id, processIds, samples);
}

/** Asks for answers to a node that has none yet. */
export async function answerAfter(
  conversation: Conversation,
  node: string,
  processIds: string[],
  samples = 1,
): Promise<void> {
  await conversation.attempt(node, "answer", async () => {
    const made = (await call("post", "/api/v1/conversations/{id}/turns", {
      params: { id: conversation.id },
      body: { parentAlternativeId: node, speaker: "agent", processIds, samples },
    })) as Answers;
    begun(conversation, made, true);
  });
}

/** Asks for more answers at a turn, to the node given. */
export async function answerBeside(
  conversation: Conversation,
  turnId: string,
  parent: string | undefined,
  processIds: string[],
  samples: number,
): Promise<void> {
  const made = (await call("post", "/api/v1/conversations/{id}/turns/{turnId}/alternatives", {
    params: { id: conversation.id, turnId },
    body: { parentAlternativeId: parent, processIds, samples, makeActive: true },
  })) as Answers;
  begun(conversation, made, true);
}

/** Makes an answer again by the process that made it. */
export async function regenerate(
  conversation: Conversation,
  turnId: string,
  nodeId: string,
  samples = 1,
): Promise<void> {
  const made = await call(
    "post",
    "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/regenerate",
    {
      params: { id: conversation.id, turnId, nodeId },
      body: { makeActive: true, samples },
    },
  );
  begun(conversation, made, true);
}

function begun(conversation: Conversation, made: Answers, go: boolean): void {
  for (const { node, executionId } of made.answers) {
    conversation.follow(node.id, executionId);
    conversation.take(node);
  }
  const shown = made.answers.find(({ node }) => node.isActive) ?? made.answers[0];
  if (go && shown) conversation.turnTo(shown.node.id);
}

/** Turns to another alternative at once. */
export async function activate(conversation: Conversation, turnId: string, nodeId: string): Promise<void> {
  const before = conversation.cursor;
  conversation.turnTo(nodeId);
  // Where its owner stands is not for others to say.
  if (nodeId.startsWith("local-") || look) return;
  const went = await conversation.attempt(nodeId, "show this alternative", () =>
    call("put", "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate", {
      params: { id: conversation.id, turnId, nodeId },
    }),
  );
  if (!went && before) conversation.turnTo(before);
}

/** Another wording of a node; the one before stays. */
export async function edit(
  conversation: Conversation,
  node: Node,
  content: Content,
  draftPlace: string,
): Promise<Node> {
  const grown = (await call("post", "/api/v1/conversations/{id}/turns/{turnId}/alternatives", {
    params: { id: conversation.id, turnId: node.turnId ?? "" },
    body: { content: content as never, editedFrom: node.id, makeActive: true },
  })) as Schemas["Mutated_GrownView"];
  dropDraft(draftPlace);
  conversation.take(grown.node);
  conversation.turnTo(grown.node.id);
  return grown.node;
}

/** Bookmarks, tags, exclusion and pruning, shown at once. */
export async function mark(
  conversation: Conversation,
  nodeId: string,
  marks: Schemas["MarksBody"],
): Promise<boolean> {
  const before = conversation.bodies.get(nodeId);
  if (before) {
    const { bookmarked, excluded, pruned } = { ...before, ...defined(marks) };
    conversation.take({ ...before, bookmarked, excluded, pruned });
  }
  const went = await conversation.attempt(nodeId, "change the marks", async () => {
    conversation.take(await call("put", "/api/v1/nodes/{id}/marks", { params: { id: nodeId }, body: marks }));
  });
  if (!went && before) conversation.take(before);
  return went;
}

function defined({ bookmarked, excluded, pruned }: Schemas["MarksBody"]): {
  bookmarked?: boolean;
  excluded?: boolean;
  pruned?: boolean;
} {
  return {
    ...(bookmarked === null || bookmarked === undefined ? {} : { bookmarked }),
    ...(excluded === null || excluded === undefined ? {} : { excluded }),
    ...(pruned === null || pruned === undefined ? {} : { pruned }),
  };
}

/** Keeps what a broken answer had said beside it, and has a process go on after it. */
export async function goOnFrom(
  conversation: Conversation,
  turnId: string,
  broken: string,
  processIds: string[],
): Promise<void> {
  const kept = (await call("post", "/api/v1/conversations/{id}/turns/{turnId}/alternatives", {
    params: { id: conversation.id, turnId },
    body: { keptFrom: broken, makeActive: true },
  })) as Schemas["Mutated_GrownView"];
  conversation.take(kept.node);
  conversation.turnTo(kept.node.id);
  if (processIds.length > 0) await answerAfter(conversation, kept.node.id, processIds);
}

export const annotate = (
  conversation: Conversation,
  nodeId: string,
  text: string,
  draftPlace: string,
): Promise<boolean> =>
  conversation.attempt(nodeId, "write the remark", async () => {
    const { node } = await call("post", "/api/v1/nodes/{id}/annotations", {
      params: { id: nodeId },
      body: { text },
    });
    dropDraft(draftPlace);
    conversation.take({ ...node, parentAlternativeId: node.parentAlternativeId ?? nodeId });
  });

export const stop = (executionId: string): Promise<unknown> =>
  call("post", "/api/v1/executions/{id}/cancel", { params: { id: executionId } });

export const fork = (
  conversation: Conversation,
  nodeId: string,
  title?: string,
): Promise<Schemas["ConversationView"]> =>
  call("post", "/api/v1/conversations/{id}/fork", {
    params: { id: conversation.id },
    body: { nodeId, title: title ?? null },
  });

export const shownText = (node: Node | undefined): string => textOf(node?.content);
