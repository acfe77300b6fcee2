// Remembers how much of a conversation this browser has shown, to mark new nodes.
import { writeStored, readStored } from "./browserStorage";

interface SeenNodes {
  nodes: number;
  /** Time of the last visit, in milliseconds. */
  at: number;
}
const placeOf = (conversation: string): string => `seen/${conversation}`;

export const readSeen = (conversation: string): SeenNodes | undefined =>
  readStored(placeOf(conversation), undefined);
export const writeSeen = (conversation: string, nodes: number): boolean =>
  writeStored(placeOf(conversation), { nodes, at: Date.now() } satisfies SeenNodes);

/** Number of nodes since the last visit; 0 if it was never opened here. */
export function unreadCount({ id, nodes }: { id: string; nodes: number }): number {
  const seen = readSeen(id);
  return seen ? Math.max(0, nodes - seen.nodes) : 0;
}
