// What of a tree is shown: below one node or all of it, without what is collapsed, and with long runs of turns that
// nothing branches off drawn together.
import { BOOKMARKED, type Forest } from "./forest";

export interface Folding {
  /** Only what follows this node, itself included. */
  hoisted?: number;
  collapsed: ReadonlySet<number>;
  /** Runs that are drawn in full, by their first node. */
  opened: ReadonlySet<number>;
}

/** Runs shorter than this are drawn as they are. */
export const RUN_MIN = 5;

/** The entries shown, parents before children, in the order a list has them. */
export interface Outline {
  length: number;
  /** The node of an entry; of a run, its first. */
  node: Int32Array;
  /** The entry it follows; -1 for none. */
  parent: Int32Array;
  /** How many nodes an entry stands for: 0 for one that is itself. */
  run: Int32Array;
  level: Int32Array;
  /** 0 nothing follows, 1 collapsed, 2 open. */
  open: Uint8Array;
}

export function outlineOf(forest: Forest, { hoisted, collapsed, opened }: Folding): Outline {
  const node = new Int32Array(forest.size);
  const parent = new Int32Array(forest.size);
  const run = new Int32Array(forest.size);
  const level = new Int32Array(forest.size);
  const open = new Uint8Array(forest.size);
  let length = 0;
  // Three numbers for each that waits: its node, the entry it follows, and how many plain turns stand right above it:
  // the first of a run stays in sight, the second begins it.
  const waiting: number[] = [];
  const roots = hoisted === undefined ? forest.roots : Int32Array.of(hoisted);
  for (let at = roots.length - 1; at >= 0; at--) waiting.push(roots[at] ?? 0, -1, 0);

  const put = (at: number, above: number, together: number): number => {
    node[length] = at;
    parent[length] = above;
    run[length] = together;
    level[length] = above < 0 ? 1 : (level[above] ?? 0) + 1;
    return length++;
  };
  while (waiting.length > 0) {
    const plainAbove = waiting.pop() ?? 0;
    const above = waiting.pop() ?? -1;
    const at = waiting.pop() ?? 0;
    const found = plainAbove === 1 && !opened.has(at) ? runFrom(forest, at, collapsed) : undefined;
    if (found) {
      const entry = put(at, above, found.count);
      open[entry] = 1;
      waiting.push(found.end, entry, 2);
      continue;
    }
    const entry = put(at, above, 0);
    const children = forest.children(at);
    if (children.length === 0) continue;
    open[entry] = collapsed.has(at) ? 1 : 2;
    if (collapsed.has(at)) continue;
    const plain = isPlain(forest, at, collapsed) ? plainAbove + 1 : 0;
    for (let child = children.length - 1; child >= 0; child--)
      waiting.push(children[child] ?? 0, entry, plain);
  }
  return {
    length,
    node: node.subarray(0, length),
    parent: parent.subarray(0, length),
    run: run.subarray(0, length),
    level: level.subarray(0, length),
    open: open.subarray(0, length),
  };
}

/** Whether a node may disappear in a run: one follows it, and nobody marked it or stands there. */
function isPlain(forest: Forest, at: number, collapsed: ReadonlySet<number>): boolean {
  return (
    forest.childCount(at) === 1 &&
    ((forest.marks[at] ?? 0) & BOOKMARKED) === 0 &&
    at !== forest.cursor &&
    !collapsed.has(at)
  );
}

/** The turns from here on that are drawn together; the last plain one stays, so that a run does not touch a fork. */
function runFrom(
  forest: Forest,
  at: number,
  collapsed: ReadonlySet<number>,
): { count: number; end: number } | undefined {
  let count = -1;
  let end = -1;
  for (let node = at; node >= 0 && isPlain(forest, node, collapsed); node = forest.children(node)[0] ?? -1) {
    count++;
    end = node;
  }
  return count < RUN_MIN ? undefined : { count, end };
}

/** Where a node is in an outline: its own entry, or that of the run or collapsed node it is in. */
export function entryOf(forest: Forest, outline: Outline, places: Int32Array, at: number): number {
  for (const node of forest.upFrom(at)) {
    const place = places[node] ?? -1;
    if (place >= 0) return place;
  }
  return outline.length > 0 ? 0 : -1;
}

/** For every node the entry that is its own, or -1. */
export function placesOf(forest: Forest, outline: Outline): Int32Array {
  const places = new Int32Array(forest.size).fill(-1);
  for (let entry = 0; entry < outline.length; entry++) places[outline.node[entry] ?? 0] = entry;
  return places;
}

/** Folding in which a node is shown by itself. */
export function foldingThatShows(forest: Forest, folding: Folding, at: number): Folding {
  const collapsed = new Set(folding.collapsed);
  const above = [...forest.upFrom(at)];
  for (const node of above.slice(1)) collapsed.delete(node);
  const hoisted =
    folding.hoisted !== undefined && above.includes(folding.hoisted) ? folding.hoisted : undefined;
  const next = { ...folding, hoisted, collapsed };
  const outline = outlineOf(forest, next);
  const places = placesOf(forest, outline);
  const place = places[at] ?? -1;
  if (place >= 0 && outline.run[place] === 0) return next;
  const entry = entryOf(forest, outline, places, at);
  const opened = new Set(folding.opened).add(outline.node[entry] ?? 0);
  return { ...next, opened };
}
