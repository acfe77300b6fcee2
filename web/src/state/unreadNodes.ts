// How much of a conversation this browser has shown; what came since is new.
import { keep, kept } from "./browserStorage";

interface Seen {
  nodes: number;
  /** When it was last looked at, in milliseconds. */
  at: number;
}
const placeOf = (conversation: string): string => `seen/${conversation}`;

export const seenOf = (conversation: string): Seen | undefined => kept(placeOf(conversation), undefined);
export const keepSeen = (conversation: string, nodes: number): boolean =>
  keep(placeOf(conversation), { nodes, at: Date.now() } satisfies Seen);

/** How many nodes came since it was looked at here; none where it never was. */
export function unseen({ id, nodes }: { id: string; nodes: number }): number {
  const seen = seenOf(id);
  return seen ? Math.max(0, nodes - seen.nodes) : 0;
}
