import { describe, expect, it } from "vitest";
import { detailOf, fitted, withInSight, zoomed } from "../../src/screens/map/camera";
import { Forest, type Skeleton } from "../../src/screens/map/forest";
import { layoutOf } from "../../src/screens/map/layout";
import { foldingThatShows, outlineOf, placesOf, type Folding } from "../../src/screens/map/outline";
import { beside, entryAtPoint, firstBelow, sceneOf } from "../../src/screens/map/scene";
import { coveredBy, nextAsk } from "../../src/screens/map/nodeTexts.svelte";

/** A tree from the parent of each node; `cursor` is where one stands. */
function forestOf(
  parent: number[],
  { cursor = -1, bookmarked = [] as number[], remarks = [] as number[] } = {},
) {
  const depth: number[] = [];
  parent.forEach((above, at) =>
    depth.push(remarks.includes(at) ? 0 : above < 0 ? 1 : (depth[above] ?? 0) + 1),
  );
  const all = <T>(value: T) => parent.map(() => value);
  const skeleton: Skeleton = {
    conversationId: "entity_1",
    cursorNodeId: cursor < 0 ? null : `item_${cursor}`,
    turns: ["turn_1"],
    nodes: {
      id: parent.map((_, at) => `item_${at}`),
      parent,
      depth,
      author: depth.map((one) => (one % 2 ? "h" : "m")),
      createdAt: all(0),
      marks: parent.map((_, at) => (bookmarked.includes(at) ? 1 : 0)),
      ordinal: all(1),
      selected: all(1),
      visited: parent.map(() => 0),
      shownVersion: [],
      stale: all(0),
      status: all("c"),
      turn: all(0),
    },
  };
  return new Forest(skeleton);
}
const plain: Folding = { collapsed: new Set(), opened: new Set() };
const chain = (length: number) => Array.from({ length }, (_, at) => at - 1);

describe("forest", () => {
  it("knows children, siblings and roots, and leaves remarks out", () => {
    const forest = forestOf([-1, 0, 0, 1, -1, -1], { remarks: [5] });
    expect([...forest.roots]).toEqual([0, 4]);
    expect([...forest.children(0)]).toEqual([1, 2]);
    expect([...forest.siblings(2)]).toEqual([1, 2]);
    expect([...forest.upFrom(3)]).toEqual([3, 1, 0]);
    expect(forest.below(0)).toBe(3);
    expect(forest.at("item_3")).toBe(3);
  });
});

describe("outline", () => {
  it("draws a long run together and keeps its ends", () => {
    const outline = outlineOf(forestOf(chain(12)), plain);
    expect([...outline.node]).toEqual([0, 1, 10, 11]);
    expect([...outline.run]).toEqual([0, 9, 0, 0]);
    expect([...outline.level]).toEqual([1, 2, 3, 4]);
  });
  it("does not hide who stands there, nor a bookmark, nor a short run", () => {
    expect(outlineOf(forestOf(chain(6)), plain).length).toBe(6);
    const stood = outlineOf(forestOf(chain(20), { cursor: 10 }), plain);
    expect([...stood.node]).toContain(10);
    const marked = outlineOf(forestOf(chain(20), { bookmarked: [9] }), plain);
    expect([...marked.node]).toContain(9);
  });
  it("keeps parents before children, and leaves out what is collapsed", () => {
    const forest = forestOf([-1, 0, 0, 1, 1]);
    const open = outlineOf(forest, plain);
    expect([...open.node]).toEqual([0, 1, 3, 4, 2]);
    const closed = outlineOf(forest, { ...plain, collapsed: new Set([1]) });
    expect([...closed.node]).toEqual([0, 1, 2]);
    expect([...closed.open]).toEqual([2, 1, 0]);
  });
  it("shows only what follows a node that is hoisted", () => {
    const outline = outlineOf(forestOf([-1, 0, 0, 1, 1]), { ...plain, hoisted: 1 });
    expect([...outline.node]).toEqual([1, 3, 4]);
  });
  it("opens what hides a node", () => {
    const forest = forestOf(chain(30));
    const folding = foldingThatShows(forest, { ...plain, collapsed: new Set([20]), hoisted: 25 }, 12);
    expect(folding.hoisted).toBeUndefined();
    expect(placesOf(forest, outlineOf(forest, folding))[12]).toBeGreaterThanOrEqual(0);
  });
  it("takes a path of 100,000 turns", () => {
    const outline = outlineOf(forestOf(chain(100_000)), plain);
    expect(outline.length).toBe(4);
  });
});

describe("layout and scene", () => {
  const forest = forestOf([-1, 0, 0, 1, 1, 2], { cursor: 4 });
  const outline = outlineOf(forest, plain);
  const scene = sceneOf(forest, outline, layoutOf(outline.parent));
  const entry = (at: number) => scene.places[at] ?? -1;

  it("grows to the right and gives every leaf a row", () => {
    expect([...scene.layout.x]).toEqual([0, 1, 2, 2, 1, 2]);
    expect(scene.layout).toMatchObject({ columns: 3, rows: 3 });
    const rows = [3, 4, 5].map((at) => scene.layout.y[entry(at)]);
    expect(rows).toEqual([0, 1, 2]);
  });
  it("lays several roots out as one picture", () => {
    const laid = layoutOf(Int32Array.of(-1, 0, -1));
    expect([...laid.x]).toEqual([0, 1, 0]);
    expect(laid.rows).toBe(2);
  });
  it("knows the path one stands on", () => {
    expect([...scene.onPath].map((on, at) => (on ? outline.node[at] : -1)).filter((at) => at !== -1)).toEqual(
      [0, 1, 4],
    );
    expect(scene.here).toBe(entry(4));
  });
  it("moves by keys", () => {
    expect(firstBelow(scene, entry(1))).toBe(entry(4));
    expect(beside(scene, entry(4), 1)).toBe(entry(5));
    expect(beside(scene, entry(3), -1)).toBe(entry(3));
    expect(firstBelow(scene, entry(5))).toBe(-1);
  });
  it("finds what is pointed at", () => {
    const camera = { stepX: 200, stepY: 30, left: -20, top: -20 };
    expect(
      entryAtPoint(scene, camera, "titles", { x: 222, y: 20 + 30 * (scene.layout.y[entry(1)] ?? 0) }),
    ).toBe(entry(1));
    expect(entryAtPoint(scene, camera, "titles", { x: 205, y: 300 })).toBe(-1);
  });
});

describe("camera", () => {
  it("fits a part of the plane into the window", () => {
    const camera = fitted({ x0: 0, y0: 0, x1: 99, y1: 999 }, { width: 1000, height: 800 });
    expect(99 * camera.stepX).toBeLessThan(1000);
    expect(999 * camera.stepY).toBeLessThan(800);
    expect(detailOf(camera)).toBe("dots");
  });
  it("keeps what is under the pointer there", () => {
    const camera = { stepX: 100, stepY: 10, left: 50, top: 20 };
    const near = zoomed(camera, 2, { x: 150, y: 80 });
    expect((near.left + 150) / near.stepX).toBeCloseTo(2);
    expect((near.top + 80) / near.stepY).toBeCloseTo(10);
  });
  it("has three levels and moves no more than it must", () => {
    expect(detailOf({ stepX: 280, stepY: 90, left: 0, top: 0 })).toBe("cards");
    expect(detailOf({ stepX: 200, stepY: 30, left: 0, top: 0 })).toBe("titles");
    const camera = { stepX: 100, stepY: 30, left: 0, top: 0 };
    expect(withInSight(camera, 3, 8, { width: 1000, height: 600 })).toEqual(camera);
  });
});

describe("texts", () => {
  it("asks along a path, or for a family where that brings more", () => {
    const forest = forestOf([-1, 0, 1, 2, 2, 2, 2, 2]);
    expect(nextAsk(forest, [0, 2, 3])).toEqual({ path: 3, hops: 4 });
    const family = nextAsk(forest, [3, 4, 5, 6, 7]);
    expect(family).toEqual({ family: 2 });
    expect([...coveredBy(forest, { path: 3, hops: 2 })]).toEqual([3, 2]);
    expect(nextAsk(forest, [])).toBeUndefined();
  });
});
