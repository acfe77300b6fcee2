// Draws a scene: lines, then what stands on them, as dots, titles or cards by how near one is.
import { detailOf, screenX, screenY, type Camera, type Detail, type Extent } from "./camera";
import { BOOKMARKED, EXCLUDED, PRUNED } from "./forest";
import { lookOf, spoken, type ColourBy, type Ink, type Look, type Makers } from "./nodeStyle";
import { drawHere } from "./positionFlag";
import { drawRunDot, markShape } from "./shapes";
import { placeAt, type Scene } from "./scene";
import type { Texts } from "./nodeTexts.svelte";
import { clipped, wrapped } from "./textFit";

export type Inks = Record<Ink, string>;
export interface MapDrawing {
  scene: Scene;
  camera: Camera;
  window: Extent;
  inks: Inks;
  font: string;
  by: ColourBy;
  makers?: Makers;
  texts: Texts;
  nameOf: (processId: string) => string;
  /** The entry with the focus, or -1. */
  current: number;
  picked: ReadonlySet<number>;
  found: ReadonlySet<number>;
}
type Context = CanvasRenderingContext2D;

const TITLE_LEFT = 11;
const CARD_LEFT = 10;

/** Draws; gives back which entries were drawn with words, so that their words can be read. */
export function paint(context: Context, drawn: MapDrawing): number[] {
  const { scene, camera, window, inks } = drawn;
  const detail = detailOf(camera);
  context.clearRect(0, 0, window.width, window.height);
  context.textBaseline = "middle";
  const shown: number[] = [];
  const edges: number[] = [];
  const [top, bottom] = [camera.top / camera.stepY, (camera.top + window.height) / camera.stepY];
  const left = Math.max(0, Math.floor(camera.left / camera.stepX) - 1);
  const right = Math.min(scene.layout.columns - 1, Math.ceil((camera.left + window.width) / camera.stepX));
  const rowGap = Math.max(1, detail === "dots" ? 1.5 : 0) / camera.stepY;
  for (let column = left; column <= right; column++) {
    const from = Math.max(scene.first[column] ?? 0, placeAt(scene, column, top - 1) - 1);
    const to = Math.min(scene.first[column + 1] ?? 0, placeAt(scene, column, bottom + 1) + 1);
    let last = -Infinity;
    for (let place = from; place < to; place++) {
      const entry = scene.entries[place] ?? 0;
      const row = scene.layout.y[entry] ?? 0;
      // Entries on the same pixel are drawn once.
      if (detail === "dots" && row - last < rowGap && !scene.onPath[entry]) continue;
      last = row;
      edges.push(entry);
      if (row >= top - 1 && row <= bottom + 1) shown.push(entry);
    }
  }
  drawEdges(context, drawn, detail, edges, 0);
  drawEdges(context, drawn, detail, edges, 1);
  for (const entry of shown) drawEntry(context, drawn, detail, entry);
  context.globalAlpha = 1;
  drawHere(context, drawn, detail);
  context.fillStyle = inks.text;
  return detail === "dots" ? [] : shown;
}

function drawEdges(
  context: Context,
  drawn: MapDrawing,
  detail: Detail,
  edges: number[],
  onPath: 0 | 1,
): void {
  const { scene, camera, inks } = drawn;
  const { layout, outline } = scene;
  const bent = camera.stepY >= 3;
  context.beginPath();
  for (const entry of edges) {
    const parent = outline.parent[entry] ?? -1;
    if (parent < 0 || scene.onPath[entry] !== onPath) continue;
    const x0 = screenX(camera, layout.x[parent] ?? 0);
    const y0 = screenY(camera, layout.y[parent] ?? 0);
    const x1 = screenX(camera, layout.x[entry] ?? 0);
    const y1 = screenY(camera, layout.y[entry] ?? 0);
    if (!bent) {
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      continue;
    }
    const start = detail === "dots" ? x0 : x0 + camera.stepX - 26;
    const middle = detail === "dots" ? (x0 + x1) / 2 : x1 - 16;
    context.moveTo(start, y0);
    context.lineTo(middle, y0);
    context.lineTo(middle, y1);
    context.lineTo(x1, y1);
  }
  context.strokeStyle = onPath ? inks.accent : inks.lineStrong;
  context.lineWidth = onPath ? 2.5 : camera.stepY < 3 ? 0.5 : 1;
  context.stroke();
}

function drawEntry(context: Context, drawn: MapDrawing, detail: Detail, entry: number): void {
  const { scene, camera, inks, by, makers } = drawn;
  const { forest, outline, layout } = scene;
  const at = outline.node[entry] ?? 0;
  const x = screenX(camera, layout.x[entry] ?? 0);
  const y = screenY(camera, layout.y[entry] ?? 0);
  const look = lookOf(forest, at, by, makers);
  const marks = forest.marks[at] ?? 0;
  context.globalAlpha = marks & PRUNED ? 0.4 : 1;
  if (detail === "dots") {
    const size = Math.max(1.5, Math.min(5, camera.stepY * 0.42, camera.stepX * 0.3));
    if (outline.run[entry]) drawRunDot(context, inks, x, y, size);
    else if (size < 2.5) {
      context.fillStyle = inks[look.ink];
      context.fillRect(x - size / 2, y - size / 2, size, size);
    } else markShape(context, look, inks, x, y, size);
    ring(context, drawn, entry, x, y, size + 3);
  } else if (detail === "titles") drawTitle(context, drawn, entry, look, x, y);
  else drawCard(context, drawn, entry, look, x, y);
}

const marksOf = (marks: number, stale: boolean, status: string): string =>
  [
    marks & BOOKMARKED ? "★" : "",
    marks & EXCLUDED ? "⊘" : "",
    marks & PRUNED ? "✂" : "",
    stale ? "stale" : "",
    status === "pending" ? "running" : status === "failed" ? "failed" : "",
  ]
    .filter(Boolean)
    .join(" ");

function wordsOf({ scene, texts }: MapDrawing, entry: number): string {
  const at = scene.outline.node[entry] ?? 0;
  const run = scene.outline.run[entry] ?? 0;
  if (run > 0) return `⋯ ${run.toLocaleString()} turns in a row`;
  const words = texts.of(at);
  return words?.label ?? words?.brief ?? "";
}

function drawTitle(
  context: Context,
  drawn: MapDrawing,
  entry: number,
  look: Look,
  x: number,
  y: number,
): void {
  const { scene, camera, inks, font } = drawn;
  const at = scene.outline.node[entry] ?? 0;
  const run = (scene.outline.run[entry] ?? 0) > 0;
  const status = scene.forest.status(at);
  const marks = run ? "" : marksOf(scene.forest.marks[at] ?? 0, scene.forest.stale[at] === 1, status);
  const collapsed =
    !run && scene.outline.open[entry] === 1 ? ` +${scene.forest.below(at).toLocaleString()}` : "";
  const room = camera.stepX - TITLE_LEFT - 30;
  context.font = `${scene.onPath[entry] ? "600 " : ""}12px ${font}`;
  const tail = `${marks ? ` ${marks}` : ""}${collapsed}`;
  const text = clipped(context, wordsOf(drawn, entry) || spoken(scene.forest.author(at)), room, tail);
  const width = context.measureText(text).width;
  if (entry === drawn.current || drawn.found.has(at)) {
    context.fillStyle = inks.accentSoft;
    context.fillRect(x - 8, y - 10, width + TITLE_LEFT + 14, 20);
  }
  if (run) drawRunDot(context, inks, x, y, 4.5);
  else markShape(context, look, inks, x, y, 5);
  ring(context, drawn, entry, x, y, 8);
  context.fillStyle = run ? inks.textSoft : inks.text;
  context.fillText(text, x + TITLE_LEFT, y + 0.5);
  drawStem(context, drawn, entry, x + TITLE_LEFT + width + 5, x + camera.stepX - 26, y);
}

/** The line from where the words end to where the branches begin. */
function drawStem(
  context: Context,
  drawn: MapDrawing,
  entry: number,
  from: number,
  to: number,
  y: number,
): void {
  const { scene, inks } = drawn;
  if (scene.outline.open[entry] === 0 || to <= from) return;
  if (scene.outline.open[entry] === 1 && scene.outline.run[entry] === 0) return;
  const bold = scene.onPath[entry] === 1 && entry !== scene.here;
  context.beginPath();
  context.moveTo(from, y);
  context.lineTo(to, y);
  context.strokeStyle = bold ? inks.accent : inks.lineStrong;
  context.lineWidth = bold ? 2.5 : 1;
  context.stroke();
}

function drawCard(
  context: Context,
  drawn: MapDrawing,
  entry: number,
  look: Look,
  x: number,
  y: number,
): void {
  const { scene, camera, inks, font, texts } = drawn;
  const at = scene.outline.node[entry] ?? 0;
  if (scene.outline.run[entry]) return drawTitle(context, drawn, entry, look, x, y);
  const [width, height] = [camera.stepX - CARD_LEFT - 36, Math.min(78, camera.stepY - 10)];
  const [left, top] = [x - CARD_LEFT, y - height / 2];
  context.beginPath();
  context.roundRect(left, top, width + CARD_LEFT, height, 6);
  context.fillStyle = drawn.found.has(at) ? inks.accentSoft : inks.surface;
  context.fill();
  context.strokeStyle = scene.onPath[entry] || drawn.picked.has(at) ? inks.accent : inks.lineStrong;
  context.lineWidth = entry === drawn.current ? 3 : scene.onPath[entry] ? 2 : 1;
  if (drawn.picked.has(at)) context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
  markShape(context, look, inks, x + 3, top + 14, 4.5);
  const words = texts.of(at);
  const maker = words?.processId ? drawn.nameOf(words.processId) : spoken(scene.forest.author(at));
  const siblings = scene.forest.siblings(at).length;
  const place = siblings > 1 ? ` · ${scene.forest.siblings(at).indexOf(at) + 1}/${siblings}` : "";
  const marks = marksOf(scene.forest.marks[at] ?? 0, scene.forest.stale[at] === 1, scene.forest.status(at));
  const collapsed = scene.outline.open[entry] === 1 ? ` +${scene.forest.below(at).toLocaleString()}` : "";
  context.font = `600 11px ${font}`;
  context.fillStyle = inks.textSoft;
  const tail = `${place}${marks ? ` · ${marks}` : ""}${collapsed}`;
  context.fillText(clipped(context, maker, width - 20, tail), x + 13, top + 14);
  context.font = `12px ${font}`;
  context.fillStyle = inks.text;
  const text = words ? (words.label ? `${words.label}: ${words.brief}` : words.brief) : "";
  for (const [line, part] of wrapped(context, text, width - 8, 3).entries())
    context.fillText(part, left + 8, top + 32 + line * 16);
  drawStem(context, drawn, entry, left + width + CARD_LEFT, x + camera.stepX - 26, y);
}

/** Around what has the focus, and, dashed, around what was picked. */
function ring(
  context: Context,
  drawn: MapDrawing,
  entry: number,
  x: number,
  y: number,
  radius: number,
): void {
  const { scene, inks } = drawn;
  const at = scene.outline.node[entry] ?? 0;
  const isCurrent = entry === drawn.current;
  const isPicked = drawn.picked.has(at);
  const isFound = drawn.found.has(at);
  if (!isCurrent && !isPicked && !isFound) return;
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.strokeStyle = isCurrent || isPicked ? inks.text : inks.warning;
  context.lineWidth = isCurrent ? 2 : 1.5;
  if (isPicked) context.setLineDash([3, 2]);
  context.stroke();
  context.setLineDash([]);
}
