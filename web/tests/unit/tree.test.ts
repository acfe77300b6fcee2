import { describe, expect, it } from "vitest";
import type { Schemas } from "../../src/api/client";
import { branchesOf } from "../../src/state/branches";
import { contentOf, reworded, textOf } from "../../src/state/content";
import { Tree, type TreeNode } from "../../src/state/tree";

const treeNode = (
  id: string,
  parent: string | undefined,
  turn: string,
  ordinal = 1,
  author: TreeNode["author"] = "human",
): TreeNode => ({
  id,
  parent,
  turn,
  ordinal,
  author,
  status: "complete",
  bookmarked: false,
  pruned: false,
  excluded: false,
  createdAt: 0,
});

/** A question with two wordings, an answer to the first, and what was said after it. */
function talk(): Tree {
  const tree = new Tree();
  tree.add(treeNode("q1", undefined, "t1", 1));
  tree.add(treeNode("a1", "q1", "t2", 1, "model"));
  tree.add(treeNode("q2", "a1", "t3"));
  tree.add(treeNode("a2", "q2", "t4", 1, "model"));
  tree.turnTo("a2");
  return tree;
}
/** Another answer to the first question, as the server tells it while it is made. */
const another = (id: string): Schemas["NodeView"] =>
  ({
    id,
    parentAlternativeId: "q1",
    turnId: "t2",
    ordinal: 2,
    authorType: "model",
    status: "pending",
    isActive: true,
    createdAt: "2026-01-01T00:00:00Z",
  }) as Schemas["NodeView"];
const nodes = (tree: Tree, through?: string) =>
  tree.shown(through).map(({ node, stale }) => (stale ? `${node}!` : node));

describe("the shown path", () => {
  it("is what every turn shows, from the root to the end", () => {
    expect(nodes(talk())).toEqual(["q1", "a1", "q2", "a2"]);
  });
  it("goes on below where one stands, to what was shown there last", () => {
    const tree = talk();
    tree.turnTo("q1");
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
  });
  it("marks answers to another wording as stale, and keeps what follows them", () => {
    const tree = talk();
    tree.add(treeNode("q1b", undefined, "t1", 2));
    tree.turnTo("q1b");
    expect(nodes(tree)).toEqual(["q1b", "a1!", "q2", "a2"]);
    expect(tree.shown().map(({ belowStale }) => belowStale)).toEqual([false, false, true, true]);
    tree.add(treeNode("a1b", "q1b", "t2", 2, "model"));
    tree.turnTo("a1b");
    expect(nodes(tree)).toEqual(["q1b", "a1b"]);
    expect(tree.elsewhere("a1b")).toEqual(["t3"]);
  });
  it("goes from a version of a question to its own answer, never to that of another version", () => {
    const tree = talk();
    tree.add(treeNode("q1b", undefined, "t1", 2));
    tree.add(treeNode("a1b", "q1b", "t2", 2, "model"));
    tree.turnTo("a1b");
    // The turn of answers shows the newer one; the older question has one of its own.
    tree.turnTo("q1");
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(tree.endBelow("q1")).toBe("a2");
    expect(tree.endBelow("q1b")).toBe("a1b");
  });
  it("comes back to the answer that was chosen last below a version, not to the newest", () => {
    const tree = talk();
    tree.add(treeNode("a1c", "q1", "t2", 2, "model"));
    tree.turnTo("a1c");
    tree.turnTo("a2");
    tree.add(treeNode("q1b", undefined, "t1", 2));
    tree.add(treeNode("a1b", "q1b", "t2", 3, "model"));
    tree.turnTo("a1b");
    expect(tree.endBelow("q1")).toBe("a2");
    expect(tree.onWay("q1", "t2")).toBe("a1");
  });
  it("does not put what people said to one answer under another", () => {
    const tree = talk();
    tree.add(treeNode("a1b", "q1", "t2", 2, "model"));
    tree.turnTo("a1b");
    expect(nodes(tree)).toEqual(["q1", "a1b"]);
    tree.turnTo("a1");
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
  });
  it("tells several ways on from one node, and shows a branch that is named", () => {
    const tree = talk();
    tree.add(treeNode("other", "a1", "t5"));
    expect(tree.shown().find(({ node }) => node === "q2")?.branchTurns).toEqual(["t3", "t5"]);
    expect(nodes(tree, "other")).toEqual(["q1", "a1", "other"]);
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
  });
  it("begins at the top, in whatever order its nodes are heard of", () => {
    for (const order of [
      ["a1", "q1", "q2", "a2"],
      ["a2", "a1", "q1", "q2"],
      ["q2", "a2", "q1", "a1"],
    ]) {
      for (const above of [undefined, "elsewhere"]) {
        const told: Record<string, TreeNode> = {
          q1: treeNode("q1", above, "t1"),
          a1: treeNode("a1", "q1", "t2", 1, "model"),
          q2: treeNode("q2", "a1", "t3"),
          a2: treeNode("a2", "q2", "t4", 1, "model"),
        };
        const tree = new Tree();
        for (const id of order) tree.add(told[id] as TreeNode);
        expect(nodes(tree), `${order.join()} ${above}`).toEqual(["q1", "a1", "q2", "a2"]);
      }
    }
  });
  it("begins with what the server tells once the stand-in for it is gone", () => {
    const tree = new Tree();
    tree.add(treeNode("local-1", undefined, "local-t"));
    tree.add(treeNode("q", undefined, "t1"));
    tree.turnTo("q");
    tree.remove("local-1");
    expect(nodes(tree)).toEqual(["q"]);
  });
  it("is not turned by what was read before somebody went elsewhere", () => {
    const tree = talk();
    const told = another("a1b");
    tree.put(told);
    expect(nodes(tree)).toEqual(["q1", "a1b"]);
    tree.turnTo("a1");
    tree.put({ ...told, status: "complete" });
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(tree.treeNodes.get("a1b")?.status).toBe("complete");
  });
  it("takes back what the server refused", () => {
    const tree = talk();
    tree.add(treeNode("local", "a2", "t9"));
    tree.turnTo("local");
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2", "local"]);
    tree.remove("local");
    tree.turnTo("a2");
    expect(nodes(tree)).toEqual(["q1", "a1", "q2", "a2"]);
  });
  it("is quick for ten thousand turns", () => {
    const tree = new Tree();
    for (let at = 0; at < 10_000; at++)
      tree.add(treeNode(`n${at}`, at === 0 ? undefined : `n${at - 1}`, `t${at}`));
    tree.turnTo("n9999");
    tree.shown();
    // Time of its own: others may have the processor meanwhile.
    const began = process.cpuUsage();
    expect(tree.shown()).toHaveLength(10_000);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(500);
  });
});

describe("content", () => {
  it("is said in the shortest form, and rewording keeps attachments", () => {
    const image = {
      type: "image",
      ref: "item_1",
      mimeType: "image/png",
      width: 1,
      height: 1,
      altText: "a heron",
    } as const;
    expect(contentOf("Hello", [])).toEqual({ type: "text", text: "Hello" });
    const mixed = contentOf("Hello", [image]);
    expect(textOf(mixed)).toBe("Hello\n\na heron");
    expect(reworded(mixed, "Bye")).toEqual({ type: "mixed", blocks: [{ type: "text", text: "Bye" }, image] });
  });
});

/** A buffer as the server tells it: a beginning with two versions, what follows it, and another answer. */
function buffer(shown: "a" | "b"): Tree {
  const nodes = ["a", "answer", "end", "b", "other"];
  const version = nodes.indexOf(shown);
  const columns = {
    id: nodes,
    parent: [-1, 0, 1, -1, 0],
    turn: [0, 1, 2, 0, 1],
    ordinal: [1, 1, 1, 2, 2],
    depth: [1, 2, 3, 1, 2],
    author: ["h", "m", "h", "h", "m"],
    status: ["c", "c", "c", "c", "c"],
    selected: [Number(shown === "a"), 1, 1, Number(shown === "b"), 0],
    visited: [1, 1, 1, 1, 0],
    stale: [0, 0, 0, 0, 0],
    shownVersion: [version, -1, -1, version, -1],
    marks: [0, 0, 0, 0, 0],
    createdAt: [0, 0, 0, 0, 0],
  };
  const turns = ["t1", "t2", "t3"];
  return Tree.of({ conversationId: "c", cursorNodeId: "end", turns, nodes: columns }, true);
}

describe("versions in a buffer", () => {
  it("share what follows them, and are never stale", () => {
    expect(nodes(buffer("a"))).toEqual(["a", "answer", "end"]);
    expect(nodes(buffer("b"))).toEqual(["b", "answer", "end"]);
  });
  it("stay selected, wherever somebody goes below them", () => {
    const tree = buffer("b");
    tree.turnTo("end");
    expect(nodes(tree)).toEqual(["b", "answer", "end"]);
    tree.turnTo("a");
    expect(nodes(tree)).toEqual(["a", "answer", "end"]);
    tree.turnTo("other");
    expect(nodes(tree)).toEqual(["a", "other"]);
    expect(tree.ancestors("end")).toEqual(["a", "answer", "end"]);
  });
  it("come up by an edit, also after what was said to them", () => {
    const tree = buffer("a");
    const told = (id: string, more: object) =>
      tree.put({
        id,
        createdAt: "2026-01-01T00:00:00Z",
        status: "complete",
        authorType: "human",
        ...more,
      } as never);
    told("next", { parentAlternativeId: "new", turnId: "t4", ordinal: 1, isActive: true });
    told("new", {
      parentAlternativeId: "answer",
      turnId: "t3",
      editedFrom: "end",
      ordinal: 2,
      isActive: true,
    });
    expect(nodes(tree)).toEqual(["a", "answer", "new", "next"]);
    tree.turnTo("end");
    expect(nodes(tree)).toEqual(["a", "answer", "end", "next"]);
    expect(branchesOf(tree).map(({ start, end }) => [start, end])).toEqual([
      ["a", "next"],
      ["other", "other"],
    ]);
  });
  it("can be compared side by side", () => {
    expect(nodes(buffer("a"), "b")).toEqual(["b", "answer", "end"]);
  });
});

describe("a failed answer", () => {
  it("is not offered to another version", () => {
    const tree = new Tree();
    tree.add(treeNode("q1", undefined, "t1"));
    tree.add({ ...treeNode("a1", "q1", "t2", 1, "model"), status: "failed" });
    tree.turnTo("a1");
    tree.add(treeNode("q1b", undefined, "t1", 2));
    tree.turnTo("q1b");
    expect(nodes(tree)).toEqual(["q1b"]);
    tree.add(treeNode("a2", "q1", "t2", 2, "model"));
    expect(nodes(tree)).toEqual(["q1b", "a2!"]);
  });
});
