// How much of a conversation this browser has shown; what came since is new.
import { writeStored, readStored } from "./browserStorage";

interface SeenNodes {
  nodes: number;
  /** When it was last looked at, in milliseconds. */
  at: number;
}
const placeOf = (conversation: string): string => `seen/${conversation}`;

export const readSeen = (conversation: string): SeenNodes | undefined =>
  readStored(placeOf(conversation), undefined);
export const writeSeen = (conversation: string, nodes: number): boolean =>
  writeStored(placeOf(conversation), { nodes, at: Date.now() } satisfies SeenNodes);

/** How many nodes came since it was looked at here; none where it never was. */
export function unreadCount({ id, nodes }: { id: string; nodes: number }): number {
  const seen = readSeen(id);
  return seen ? Math.max(0, nodes - seen.nodes) : 0;
}
