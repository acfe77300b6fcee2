// A laid-out tree, ready to be drawn and pointed at: its entries by column, the path one stands on, who is where.
import { screenX, screenY, type Camera, type Detail } from "./camera";
import type { Forest } from "./forest";
import type { Layout } from "./layout";
import { entryOf, placesOf, type Outline } from "./outline";

export interface Scene {
  forest: Forest;
  outline: Outline;
  layout: Layout;
  /** For every node its entry, or -1. */
  places: Int32Array;
  /** 1 for entries on the path that is stood on. */
  onPath: Uint8Array;
  /** The entries of each column from the top down: `entries[first[c]]` to `entries[first[c + 1]]`. */
  first: Int32Array;
  entries: Int32Array;
  /** The entry of the node that is stood at, or -1. */
  here: number;
}

export function sceneOf(forest: Forest, outline: Outline, layout: Layout): Scene {
  const places = placesOf(forest, outline);
  const onPath = new Uint8Array(outline.length);
  const here = forest.cursor < 0 ? -1 : entryIn(forest, outline, places, forest.cursor);
  for (let entry = here; entry >= 0; entry = outline.parent[entry] ?? -1) onPath[entry] = 1;
  const first = new Int32Array(layout.columns + 1);
  for (const level of outline.level) first[level] = (first[level] ?? 0) + 1;
  for (let column = 0; column < layout.columns; column++)
    first[column + 1] = (first[column + 1] ?? 0) + (first[column] ?? 0);
  const filled = first.slice();
  const entries = new Int32Array(outline.length);
  // Entries come parents first and in order, so those of a column come from the top down.
  for (let entry = 0; entry < outline.length; entry++) {
    const column = (outline.level[entry] ?? 1) - 1;
    const place = filled[column] ?? 0;
    entries[place] = entry;
    filled[column] = place + 1;
  }
  return { forest, outline, layout, places, onPath, first, entries, here };
}

const entryIn = (forest: Forest, outline: Outline, places: Int32Array, at: number): number => {
  const entry = entryOf(forest, outline, places, at);
  const node = outline.node[entry] ?? -1;
  for (const above of forest.upFrom(at)) if (above === node) return entry;
  return -1;
};

/** The first place in a column whose row is at least this. */
export function placeAt(scene: Scene, column: number, row: number): number {
  let low = scene.first[column] ?? 0;
  let high = scene.first[column + 1] ?? low;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((scene.layout.y[scene.entries[middle] ?? 0] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entry above or below in the same column; stays at the ends. */
export function beside(scene: Scene, entry: number, step: 1 | -1): number {
  const column = (scene.outline.level[entry] ?? 1) - 1;
  const place = placeAt(scene, column, scene.layout.y[entry] ?? 0) + step;
  if (place < (scene.first[column] ?? 0) || place >= (scene.first[column + 1] ?? 0)) return entry;
  return scene.entries[place] ?? entry;
}

/** Entry after this one: on the path, else shown by its turn, else the first; -1 if there is none. */
export function firstBelow(scene: Scene, entry: number): number {
  const { outline, forest } = scene;
  let [first, shown] = [-1, -1];
  const column = outline.level[entry] ?? 1;
  for (let place = scene.first[column] ?? 0; place < (scene.first[column + 1] ?? 0); place++) {
    const below = scene.entries[place] ?? 0;
    if (outline.parent[below] !== entry) {
      if (first >= 0) break;
      continue;
    }
    if (scene.onPath[below]) return below;
    if (first < 0) first = below;
    if (shown < 0 && forest.selected[outline.node[below] ?? 0]) shown = below;
  }
  return shown >= 0 ? shown : first;
}

/** Entry at a point of the window, or -1. */
export function entryAtPoint(
  scene: Scene,
  camera: Camera,
  detail: Detail,
  point: { x: number; y: number },
): number {
  const slack = detail === "dots" ? 8 : 12;
  const column = Math.floor((point.x + camera.left + slack) / camera.stepX);
  if (column < 0 || column >= scene.layout.columns) return -1;
  const row = (point.y + camera.top) / camera.stepY;
  const after = placeAt(scene, column, row);
  let best = -1;
  let distance = Math.max(camera.stepY / 2, 6);
  for (const place of [after - 1, after]) {
    if (place < (scene.first[column] ?? 0) || place >= (scene.first[column + 1] ?? 0)) continue;
    const entry = scene.entries[place] ?? 0;
    const away = Math.abs(screenY(camera, scene.layout.y[entry] ?? 0) - point.y);
    if (away <= distance) [best, distance] = [entry, away];
  }
  if (best < 0) return -1;
  const right = point.x - screenX(camera, scene.layout.x[best] ?? 0);
  return right <= (detail === "dots" ? 10 : camera.stepX - 30) ? best : -1;
}
