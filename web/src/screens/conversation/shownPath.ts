// Reads the path on the screen: what stands above a turn, where it ends, and where answers to another version begin.
import type { Conversation } from "../../state/conversation.svelte";
import type { ShownTurn } from "../../state/tree";

/** The answers at the end of the path reply to another version than the one above them. */
export interface StaleTail {
  /** The version on the screen, which has no answer of its own. */
  chosen: string;
  /** The first answer that replies to another version. */
  stale: string;
  /** Turns from that answer on. */
  nodes: readonly string[];
}
/** Which version an act is meant for: the one that has the answers on the screen, or the one above them. */
export type Version = "answered" | "chosen";

export function staleTail(path: readonly ShownTurn[]): StaleTail | undefined {
  const at = path.findIndex(({ stale }) => stale);
  const [chosen, stale] = [path[at - 1]?.node, path[at]?.node];
  if (at < 1 || !chosen || !stale) return undefined;
  return { chosen, stale, nodes: path.slice(at).map(({ node }) => node) };
}

/** What stands above a node on the screen: every answer that is asked for there replies to it. */
export function aboveOf(
  conversation: Conversation,
  path: readonly ShownTurn[],
  node: string,
): string | undefined {
  return path[path.findIndex((one) => one.node === node) - 1]?.node ?? conversation.treeNode(node)?.parent;
}

/**
 * The node that the next message follows. An answer that failed leaves the conversation as it was: what is written goes on
 * from before it. On a stale tail it is of the version that has those answers, unless the other one is meant.
 */
export function endOf(
  conversation: Conversation,
  path: readonly ShownTurn[],
  version: Version = "answered",
): string | undefined {
  const tail = staleTail(path);
  if (tail && version === "chosen") return tail.chosen;
  const isThere = (node: string) => conversation.treeNode(node)?.status !== "failed";
  const end = (tail?.nodes ?? path.map(({ node }) => node)).findLast(isThere);
  return end ?? (tail && conversation.treeNode(tail.stale)?.parent);
}
