import { describe, expect, it } from "vitest";
import { branchesOf, branchWith } from "../../src/state/branches";
import { Tree, type TreeNode } from "../../src/state/tree";

const treeNode = (id: string, parent: string | undefined, turn: string, ordinal = 1): TreeNode => ({
  id,
  parent,
  turn,
  ordinal,
  author: "human",
  status: "complete",
  bookmarked: false,
  pruned: false,
  excluded: false,
  createdAt: 0,
});
const lines = (tree: Tree) =>
  branchesOf(tree).map(({ start, end, from, turns }) => `${start}…${end} from ${from}, ${turns}`);

/** q – a – b – c, another answer a2 – d, and another way e on from b. */
function talk(): Tree {
  const tree = new Tree();
  tree.add(treeNode("q", undefined, "t1"));
  tree.add(treeNode("a", "q", "t2", 1));
  tree.add(treeNode("a2", "q", "t2", 2));
  tree.add(treeNode("b", "a", "t3"));
  tree.add(treeNode("c", "b", "t4"));
  tree.add(treeNode("d", "a2", "t5"));
  tree.add(treeNode("e", "b", "t6"));
  tree.turnTo("c");
  return tree;
}

describe("the branches of a conversation", () => {
  it("are the one that is shown, then those that part from it, each with what parts from it", () => {
    expect(lines(talk())).toEqual(["q…c from 1, 4", "a2…d from 2, 2", "e…e from 4, 1"]);
  });
  it("are the same few whichever is shown", () => {
    const tree = talk();
    tree.turnTo("d");
    expect(lines(tree)).toEqual(["q…d from 1, 3", "a…c from 2, 3", "e…e from 4, 1"]);
  });
  it("begin with every wording of the first turn, and are none where nothing was said", () => {
    const tree = talk();
    tree.add(treeNode("q2", undefined, "t1", 2));
    tree.turnTo("q2");
    expect(lines(tree)[0]).toBe("q2…q2 from 1, 1");
    expect(branchesOf(tree)).toHaveLength(4);
    expect(branchesOf(new Tree())).toEqual([]);
  });
  it("hold each node once", () => {
    const tree = talk();
    const branches = branchesOf(tree);
    const starts = ["q", "a", "b", "c", "d", "e"].map((node) => branchWith(tree, branches, node)?.start);
    expect(starts).toEqual(["q", "q", "q", "q", "a2", "e"]);
    expect(branchWith(tree, branches, "elsewhere")).toBeUndefined();
  });
  it("are told of a path of ten thousand turns with ten thousand forks", () => {
    const tree = new Tree();
    for (let at = 0; at < 10_000; at++) {
      const before = at === 0 ? undefined : `n${at - 1}`;
      tree.add(treeNode(`n${at}`, before, `t${at}`));
      tree.add(treeNode(`m${at}`, before, `t${at}`, 2));
    }
    tree.turnTo("n9999");
    const branches = branchesOf(tree);
    expect(branches).toHaveLength(10_001);
    expect(branches[0]).toEqual({ start: "n0", end: "n9999", from: 1, turns: 10_000 });
  });
});
