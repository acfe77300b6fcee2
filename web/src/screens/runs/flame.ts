// Lays out the bars of a flame graph: time runs to the right, children stand below their parent.
import { lookOf } from "./status";
import type { TraceRow } from "./trace";

export interface Span {
  row: TraceRow;
  start: number;
  end: number;
  /** From 0; things that overlap in time stand in different ones. */
  lane: number;
  parent?: Span;
  /** By when they began. */
  below: Span[];
}
export interface Flame {
  root?: Span;
  byId: ReadonlyMap<string, Span>;
  /** Each by time. */
  lanes: readonly (readonly Span[])[];
}
export interface Period {
  start: number;
  end: number;
}
export interface Bar {
  span: Span;
  /** In pixels. */
  left: number;
  width: number;
  /** Number of further spans in the bar, too short to be drawn apart. */
  more: number;
  /** Number of these that failed. */
  failed: number;
  /** Worst status of these. */
  worst: string;
  /** From the first of them to the last. */
  period: Period;
}

/** Bars are never narrower; what is, shares one. */
export const NARROWEST = 3;

export function flameOf(rows: readonly TraceRow[], now: number): Flame {
  const byId = new Map<string, Span>();
  const above: Span[] = [];
  let root: Span | undefined;
  for (const row of rows) {
    above.length = row.level - 1;
    const parent = above[row.level - 2];
    if (row.start === undefined) {
      // A child in the tree is a child of the span that started it.
      if (parent) above[row.level - 1] = parent;
      continue;
    }
    const end = Math.max(row.start, row.end ?? now);
    const span: Span = { row, start: row.start, end, lane: 0, parent, below: [] };
    above[row.level - 1] = span;
    byId.set(row.id, span);
    if (parent) parent.below.push(span);
    else root ??= span;
  }
  const lanes: Span[][] = [];
  if (root) {
    const heights = new Map<Span, Shelf[]>();
    measure(root, heights);
    place(root, 0, heights, lanes);
  }
  for (const lane of lanes) lane.sort((one, other) => one.start - other.start);
  return { root, byId, lanes };
}

/** Things that followed one another, each with all it started: they stand at the same height. */
interface Shelf {
  height: number;
  end: number;
  spans: Span[];
}
interface LaneMeasure {
  height: number;
  end: number;
}
/** Height of each span, so that nothing is drawn below a span that did not start it. */
function measure(span: Span, shelvesOf: Map<Span, Shelf[]>): LaneMeasure {
  const shelves: Shelf[] = [];
  let end = span.end;
  for (const below of span.below.sort((one, other) => one.start - other.start)) {
    const needs = measure(below, shelvesOf);
    end = Math.max(end, needs.end);
    const shelf = shelves.find((one) => one.end <= below.start);
    if (shelf) {
      shelf.height = Math.max(shelf.height, needs.height);
      shelf.end = needs.end;
      shelf.spans.push(below);
    } else shelves.push({ ...needs, spans: [below] });
  }
  shelvesOf.set(span, shelves);
  return { height: shelves.reduce((sum, { height }) => sum + height, 1), end };
}
function place(span: Span, lane: number, shelvesOf: Map<Span, Shelf[]>, lanes: Span[][]): void {
  span.lane = lane;
  (lanes[lane] ??= []).push(span);
  let next = lane + 1;
  for (const { spans, height } of shelvesOf.get(span) ?? []) {
    for (const below of spans) place(below, next, shelvesOf, lanes);
    next += height;
  }
}

const badness = (status: string): number => ["warning", "danger"].indexOf(lookOf(status).kind);
/** One more in a bar: what went wrong is what the bar stands for, unless another is chosen. */
function share(bar: Bar, span: Span, selected: string | undefined): void {
  const { status } = span.row;
  bar.more += 1;
  bar.period.end = Math.max(bar.period.end, span.end);
  if (lookOf(status).kind === "danger") bar.failed += 1;
  if (badness(status) <= badness(bar.worst)) return;
  bar.worst = status;
  if (bar.span.row.id !== selected) bar.span = span;
}

/** The bars of one lane as they are drawn: at most one for every few pixels, however many spans there are. */
export function barsOf(lane: readonly Span[], period: Period, width: number, selected?: string): Bar[] {
  const bars: Bar[] = [];
  const scale = width / Math.max(1, period.end - period.start);
  for (const span of lane) {
    if (span.end < period.start || span.start > period.end) continue;
    const left = Math.max(0, (span.start - period.start) * scale);
    const right = Math.min(width, (span.end - period.start) * scale);
    const last = bars.at(-1);
    const isNarrow = right - left < NARROWEST;
    const isTouched = last !== undefined && left < last.left + last.width;
    if (last && isNarrow && isTouched && last.width <= NARROWEST && span.row.id !== selected) {
      share(last, span, selected);
      continue;
    }
    const drawn = Math.max(NARROWEST, right - left);
    bars.push({
      span,
      left: Math.min(left, Math.max(0, width - drawn)),
      width: drawn,
      more: 0,
      failed: lookOf(span.row.status).kind === "danger" ? 1 : 0,
      worst: span.row.status,
      period: { start: span.start, end: span.end },
    });
  }
  return bars;
}

export type Move = "left" | "right" | "up" | "down";
/** Target of a key: the parent, the first child or a sibling. */
export function moved(span: Span, move: Move): Span | undefined {
  if (move === "up") return span.parent;
  if (move === "down") return span.below[0];
  const beside = span.parent?.below ?? [];
  return beside[beside.indexOf(span) + (move === "right" ? 1 : -1)];
}

/** A period around a span with something to both sides, so that it is seen where it stands. */
export function around({ start, end }: Period, whole: Period): Period {
  const edge = Math.max(1, (end - start) * 0.05);
  return { start: Math.max(whole.start, start - edge), end: Math.min(whole.end, end + edge) };
}
