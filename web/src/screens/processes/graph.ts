// The steps as layers: each one below everything it waits for.
import { dependencies, type Step } from "./definition";

export interface Box {
  at: number;
  rank: number;
  x: number;
  y: number;
}
export interface Line {
  from: number;
  to: number;
}
export interface Graph {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const BOX = { width: 148, height: 44, across: 20, down: 34, edge: 12 };

export function ranks(steps: readonly Step[]): number[] {
  const found: number[] = [];
  for (const waits of dependencies(steps))
    found.push(waits.reduce((rank, dep) => Math.max(rank, (found[dep] ?? 0) + 1), 0));
  return found;
}

export function laidOut(steps: readonly Step[]): Graph {
  const rank = ranks(steps);
  const rows: number[][] = [];
  rank.forEach((row, at) => (rows[row] ??= []).push(at));
  const widest = Math.max(1, ...rows.map((row) => row.length));
  const rowWidth = (count: number) => count * BOX.width + (count - 1) * BOX.across;
  const width = rowWidth(widest) + 2 * BOX.edge;
  const boxes = rows.flatMap((row, number) => {
    const start = (width - rowWidth(row.length)) / 2;
    return row.map((at, index) => ({
      at,
      rank: number,
      x: start + index * (BOX.width + BOX.across),
      y: BOX.edge + number * (BOX.height + BOX.down),
    }));
  });
  const lines = dependencies(steps).flatMap((waits, to) => waits.map((from) => ({ from, to })));
  const height = Math.max(0, rows.length * (BOX.height + BOX.down) - BOX.down) + 2 * BOX.edge;
  return { boxes: boxes.sort((a, b) => a.at - b.at), lines, width, height };
}

/** From the bottom of one box to the top of another, as a soft curve. */
export function curve(from: Box, to: Box): string {
  const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
  const [x2, y2] = [to.x + BOX.width / 2, to.y];
  const bend = Math.max(14, (y2 - y1) / 2);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

/** Target of an arrow key: the nearest step of the next layer, or the neighbour in its own. */
export function towards({ boxes }: Graph, at: number, key: string): number | undefined {
  const from = boxes[at];
  if (!from) return boxes[0]?.at;
  const down = { ArrowDown: 1, ArrowUp: -1 }[key];
  const across = { ArrowRight: 1, ArrowLeft: -1 }[key];
  const among = boxes.filter((box) =>
    down ? box.rank === from.rank + down : across && box.rank === from.rank && (box.x - from.x) * across > 0,
  );
  const far = (box: Box) => Math.abs(box.x - from.x);
  return among.sort((one, other) => far(one) - far(other))[0]?.at;
}
