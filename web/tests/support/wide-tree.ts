// A tree as the server tells it, made here: storing one of 100,000 nodes first would measure the store.
const BRANCHES = 3;
const DAY_MS = 86_400_000;
const STARTED = Date.UTC(2026, 0, 1);

const id = (prefix: string, at: number): string => `${prefix}_01M7${at.toString().padStart(22, "0")}`;

export function wideTree(conversationId: string, count: number): string {
  const columns = {
    id: [] as string[],
    parent: [] as number[],
    turn: [] as number[],
    ordinal: [] as number[],
    depth: [] as number[],
    author: [] as string[],
    status: [] as string[],
    selected: [] as number[],
    stale: [] as number[],
    marks: [] as number[],
    createdAt: [] as number[],
  };
  for (let at = 0; at < count; at++) {
    // Long runs with a fork now and then, as people leave them; every node is a turn of its own.
    const parent = at === 0 ? -1 : at % 50 < BRANCHES ? (at * 7919) % at : at - 1;
    columns.id.push(id("item", at));
    columns.parent.push(parent);
    columns.turn.push(at);
    columns.ordinal.push(1);
    columns.depth.push(parent < 0 ? 1 : (columns.depth[parent] ?? 0) + 1);
    columns.author.push(at % 2 === 0 ? "h" : "m");
    columns.status.push("c");
    columns.selected.push(1);
    columns.stale.push(0);
    columns.marks.push(0);
    columns.createdAt.push(STARTED + (at * DAY_MS) / 100);
  }
  const turns = columns.turn.map((at) => id("turn", at));
  return JSON.stringify({ conversationId, cursorNodeId: id("item", count - 1), turns, nodes: columns });
}
