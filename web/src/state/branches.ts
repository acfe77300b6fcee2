// The branches of a conversation as a list: each runs from where it parts from another to its end.
import type { Tree } from "./tree";

export interface Branch {
  /** Its first node that is on no branch before it. */
  start: string;
  end: string;
  /** At which turn it parts, from 1. */
  from: number;
  turns: number;
}

/**
 * The branch that is shown comes first; those that part from a branch follow it, from the top down. Of what goes on from a
 * node, what was shown last goes on with its branch, and the others begin one.
 */
export function branchesOf(tree: Tree): Branch[] {
  const waiting: { start: string; from: number }[] = [];
  const begin = (starts: { start: string; from: number }[]) => {
    for (const one of starts.reverse()) waiting.push(one);
  };
  const roots = tree.root === undefined ? [] : (tree.turns.get(tree.root)?.alternatives ?? []);
  // Versions of a buffer are one branch.
  const first = [...new Set(roots.map((root) => tree.shownVersion(root)))];
  const shown = tree.root === undefined ? undefined : tree.selectedOf(tree.root);
  begin(shownFirst(first, shown).map((start) => ({ start, from: 1 })));

  const found: Branch[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { start, from } = next;
    const parting: { start: string; from: number }[] = [];
    let [end, depth] = [start, from];
    for (let on = goingOn(tree, end); on.length > 0; on = goingOn(tree, end)) {
      const [main = "", ...others] = on;
      depth += 1;
      for (const other of others) parting.push({ start: other, from: depth });
      end = main;
    }
    found.push({ start, end, from, turns: depth - from + 1 });
    begin(parting);
  }
  return found;
}

/** Continuations of a node, the last shown first. */
function goingOn(tree: Tree, node: string): string[] {
  const children = tree.childrenOf(node);
  if (children.length < 2) return children;
  return shownFirst(children, tree.after(node));
}

const shownFirst = (nodes: readonly string[], shown: string | undefined): string[] =>
  shown !== undefined && nodes.includes(shown)
    ? [shown, ...nodes.filter((node) => node !== shown)]
    : [...nodes];

/** Branch that contains a node; undefined if the node is not in the tree. */
export function branchWith(tree: Tree, branches: readonly Branch[], node: string): Branch | undefined {
  const byStart = new Map(branches.map((branch) => [branch.start, branch]));
  for (const at of tree.ancestors(node).reverse()) {
    const found = byStart.get(tree.shownVersion(at));
    if (found) return found;
  }
  return undefined;
}
