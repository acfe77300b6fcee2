// Lays out an outline as a tidy tree that grows to the right, one unit per step and per leaf.
import { hierarchy, tree, type HierarchyPointNode } from "d3-hierarchy";

export interface Layout {
  /** Steps from the left. */
  x: Float32Array;
  /** From the top, in rows. */
  y: Float32Array;
  columns: number;
  rows: number;
}
export type Stage = "built" | "laid";

export function layoutOf(parent: Int32Array, tell?: (stage: Stage) => void): Layout {
  const length = parent.length;
  const x = new Float32Array(length);
  const y = new Float32Array(length);
  if (length === 0) return { x, y, columns: 0, rows: 0 };
  const children: number[][] = Array.from({ length }, () => []);
  const roots: number[] = [];
  for (let entry = 0; entry < length; entry++) {
    const above = parent[entry] ?? -1;
    (above < 0 ? roots : (children[above] ?? roots)).push(entry);
  }
  const built = hierarchy<number>(-1, (entry) => (entry < 0 ? roots : children[entry]));
  tell?.("built");
  const laid = tree<number>()
    .nodeSize([1, 1])
    .separation(() => 1)(built);
  let top = Infinity;
  let bottom = -Infinity;
  let columns = 0;
  const each = (node: HierarchyPointNode<number>) => {
    if (node.data < 0) return;
    top = Math.min(top, node.x);
    bottom = Math.max(bottom, node.x);
    columns = Math.max(columns, node.depth);
    x[node.data] = node.depth - 1;
    y[node.data] = node.x;
  };
  laid.each(each);
  for (let entry = 0; entry < length; entry++) y[entry] = (y[entry] ?? 0) - top;
  tell?.("laid");
  return { x, y, columns, rows: bottom - top + 1 };
}
