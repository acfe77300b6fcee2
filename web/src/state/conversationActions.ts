// Actions of a person in a conversation: each is shown at once and reverted if the server refuses it.
import { call, placed, type Schemas } from "../api/client";
import { look } from "../api/look";
import { underway } from "./pendingActs";
import { answers } from "./liveAnswers.svelte";
import { CANONICAL } from "./mainBranch";
import { dropDraft } from "./drafts";
import type { Content } from "./content";
import { textOf } from "./content";
import type { Conversation, Node } from "./conversation.svelte";
import { outbox, standIn } from "./outbox.svelte";
import { titleOf } from "./title";

type Answers = Schemas["Mutated_AnsweringView"];

/**
 * Says something at the end of a path, and asks processes for answers. While the server cannot be reached it waits in this
 * browser. Throws after it took back what was shown.
 */
export async function sendMessage(
  conversation: Conversation,
  parent: string | undefined,
  content: Content,
  processIds: string[],
  samples: number,
  draftPlace: string,
): Promise<void> {
  const before = conversation.cursor;
  const title = titleOf(conversation.about);
  // A message sent while an answer runs waits for it.
  const awaits = parent && conversation.tree.treeNodes.get(parent)?.status === "pending" ? parent : undefined;
  const said = outbox.say(
    { conversation: conversation.id, title, parent, content, processIds, samples, awaits },
    (send) => conversation.branchMoves.inTurn(send),
  );
  const waiting = outbox.of(conversation.id).at(-1);
  if (waiting) conversation.turnTo(standIn(waiting.key));
  dropDraft(draftPlace);
  try {
    await said;
  } catch (error) {
    if (before) conversation.turnTo(before);
    throw error;
  }
}

/** Asks for answers to a node that has none yet. The process answers next too, unless it is not to be remembered. */
export async function requestAnswer(
  conversation: Conversation,
  node: string,
  processIds: string[],
  samples = 1,
  rememberProcess = true,
): Promise<void> {
  await conversation.attempt(node, "answer", () =>
    conversation.answerAfter(node, processIds, samples, rememberProcess),
  );
}

/** Asks for more answers at a turn, to the node given. */
export async function requestAlternative(
  conversation: Conversation,
  turnId: string,
  parent: string | undefined,
  processIds: string[],
  samples: number,
): Promise<void> {
  const params = { id: conversation.id, turnId };
  const body = { parentAlternativeId: parent, processIds, samples, makeActive: true };
  const path = "/api/v1/conversations/{id}/turns/{turnId}/alternatives";
  await conversation.answer(async () => (await call("post", path, { params, body })) as Answers);
}

/** Makes an answer again by the process that made it; it answers `parent`, which stands above it on the screen. */
export async function regenerate(
  conversation: Conversation,
  turnId: string,
  nodeId: string,
  parent: string | undefined,
): Promise<void> {
  const params = { id: conversation.id, turnId, nodeId };
  const body = { makeActive: true, parentAlternativeId: parent };
  const path = "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/regenerate";
  await conversation.answer(() => call("post", path, { params, body }));
}

/** Goes to exactly this node; what follows it stays below. */
export const activateNode = (conversation: Conversation, nodeId: string): Promise<void> =>
  underway(turn(conversation, nodeId, nodeId));

/**
 * Chooses an alternative: goes to where somebody was last below it, so that its own continuation is on the screen. What
 * follows versions of a buffer is shared: there the version itself is selected, and the end stays on the screen.
 */
export const selectAlternative = (conversation: Conversation, nodeId: string): Promise<void> => {
  const { tree } = conversation;
  return underway(turn(conversation, nodeId, tree.hasVersions(nodeId) ? nodeId : tree.endBelow(nodeId)));
};

async function turn(conversation: Conversation, chosen: string, end: string): Promise<void> {
  const { tree } = conversation;
  const before = tree.hasVersions(end) ? tree.shownVersion(end) : conversation.cursor;
  // An unsent message is not on the server yet: the path moves to the node before it.
  const isThere = (id: string) => !id.startsWith("local-");
  const node = conversation.tree.ancestors(end).findLast(isThere);
  const turnId = conversation.tree.treeNodes.get(node ?? "")?.turn;
  conversation.turnTo(end);
  const { moves } = conversation;
  // A viewer under a grant cannot move the owner's path.
  if (!node || !turnId || look) return;
  const params = { id: conversation.id, turnId, nodeId: node };
  const path = "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate";
  let place: string | undefined;
  const tell = async () => (place = await placed("put", path, { params }));
  const went = await conversation.attempt(chosen, "show this alternative", () =>
    conversation.branchMoves.tell(before, node, tell),
  );
  const back = conversation.branchMoves.stands ?? before;
  if (!went && back && conversation.moves === moves) conversation.turnTo(back);
  // There is no way back to what the server did not have.
  if (went && place && before && before !== node && isThere(before)) {
    const { operations } = await import("./operations.svelte");
    operations.moved(conversation.id, before, node, place);
  }
}

/** Has the path of the server end where the one on the screen does, before the server reads its own. */
export async function standAt(conversation: Conversation, node: string): Promise<void> {
  const turnId = conversation.tree.treeNodes.get(node)?.turn;
  if (!turnId || look) return;
  const before = conversation.cursor;
  conversation.turnTo(node);
  const params = { id: conversation.id, turnId, nodeId: node };
  const path = "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate";
  await conversation.branchMoves.tell(before, node, () => placed("put", path, { params }));
}

/** Another wording of a node; the one before stays. */
export async function edit(
  conversation: Conversation,
  node: Node,
  content: Content,
  draftPlace: string,
): Promise<Node> {
  const grown = await grow(conversation, node.turnId ?? "", {
    content: content as never,
    editedFrom: node.id,
    makeActive: true,
  });
  dropDraft(draftPlace);
  conversation.take(grown.node);
  conversation.turnTo(grown.node.id);
  return grown.node;
}

/** One more alternative of a turn. */
async function grow(
  conversation: Conversation,
  turnId: string,
  body: Schemas["AlternativeBody"],
): Promise<Schemas["Mutated_GrownView"]> {
  const path = "/api/v1/conversations/{id}/turns/{turnId}/alternatives";
  const params = { id: conversation.id, turnId };
  const grown = await conversation.branchMoves.inTurn(() => call("post", path, { params, body }));
  return grown as Schemas["Mutated_GrownView"];
}

/** Bookmarks, tags, exclusion and pruning, shown at once. */
export const mark = (
  conversation: Conversation,
  nodeId: string,
  marks: Schemas["MarksBody"],
): Promise<boolean> => underway(setMarks(conversation, nodeId, marks));

async function setMarks(
  conversation: Conversation,
  nodeId: string,
  marks: Schemas["MarksBody"],
): Promise<boolean> {
  const before = conversation.bodies.get(nodeId);
  if (before) {
    const { bookmarked, excluded, pruned } = { ...before, ...defined(marks) };
    conversation.take({ ...before, bookmarked, excluded, pruned });
  }
  const put = () => call("put", "/api/v1/nodes/{id}/marks", { params: { id: nodeId }, body: marks });
  const went = await conversation.attempt(nodeId, "change the marks", async () => {
    conversation.take(await conversation.branchMoves.inTurn(put));
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

/** Makes the path that ends at a node the canonical one, or none where it was; there is one at most. */
export async function toggleMainBranch(conversation: Conversation, nodeId: string): Promise<boolean> {
  const before = conversation.canonical;
  const isOn = before !== undefined && conversation.tree.ancestors(nodeId).includes(before);
  if (isOn) return mark(conversation, before, { untag: [CANONICAL] });
  if (!(await mark(conversation, nodeId, { tag: [CANONICAL] }))) return false;
  if (before) await mark(conversation, before, { untag: [CANONICAL] });
  conversation.canonical = nodeId;
  return true;
}

/** Keeps what a broken answer had said beside it, and has a process go on after it. */
export async function continueFrom(
  conversation: Conversation,
  turnId: string,
  broken: string,
  processIds: string[],
): Promise<void> {
  const kept = await grow(conversation, turnId, { keptFrom: broken, makeActive: true });
  conversation.take(kept.node);
  conversation.turnTo(kept.node.id);
  if (processIds.length > 0) await requestAnswer(conversation, kept.node.id, processIds);
}

export const annotate = (
  conversation: Conversation,
  nodeId: string,
  text: string,
  draftPlace: string,
): Promise<boolean> =>
  conversation.attempt(nodeId, "save the remark", async () => {
    const { node } = await call("post", "/api/v1/nodes/{id}/annotations", {
      params: { id: nodeId },
      body: { text },
    });
    dropDraft(draftPlace);
    conversation.take({ ...node, parentAlternativeId: node.parentAlternativeId ?? nodeId });
  });

/** Stops the answer that is being made at a node. */
export async function stop(conversation: Conversation, nodeId: string): Promise<void> {
  const id = answers.saying.get(nodeId)?.executionId;
  if (id === undefined) return;
  await conversation.attempt(nodeId, "stop this answer", () =>
    call("post", "/api/v1/executions/{id}/cancel", { params: { id } }),
  );
}

export const fork = (
  conversation: Conversation,
  nodeId: string,
  title?: string,
): Promise<Schemas["ConversationView"]> =>
  call("post", "/api/v1/conversations/{id}/fork", {
    params: { id: conversation.id },
    body: { nodeId, title: title ?? null },
  });

/** Archives the conversation, or brings it back. */
export async function archive(conversation: Conversation): Promise<Schemas["ConversationView"]> {
  const { about, id } = conversation;
  const status = about?.status === "archived" ? "active" : "archived";
  const body = { status, basedOnHash: about?.hash };
  conversation.about = await call("put", "/api/v1/conversations/{id}", { params: { id }, body });
  return conversation.about;
}

export const shownText = (node: Node | undefined): string => textOf(node?.content);
