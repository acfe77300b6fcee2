// A conversation's tree without its words: columns as the server sends them, and who follows whom.
import type { Schemas } from "../../api/client";

export type Skeleton = Schemas["SkeletonView"];
export const BOOKMARKED = 1;
export const PRUNED = 2;
export const EXCLUDED = 4;
export type Author = "person" | "model" | "system" | "imported";
const AUTHORS: Record<string, Author> = { h: "person", m: "model", s: "system", i: "imported" };

export class Forest {
  readonly conversation: string;
  readonly size: number;
  /** Without remarks. */
  readonly turnCount: number;
  readonly ids: readonly string[];
  readonly parent: Int32Array;
  readonly marks: Uint8Array;
  readonly stale: Uint8Array;
  readonly selected: Uint8Array;
  readonly roots: Int32Array;
  readonly cursor: number;
  readonly #columns: Skeleton["nodes"];
  readonly #turns: readonly string[];
  readonly #first: Int32Array;
  readonly #children: Int32Array;
  #places: Map<string, number> | undefined;

  constructor({ conversationId, cursorNodeId, nodes, turns }: Skeleton) {
    this.conversation = conversationId;
    this.#columns = nodes;
    this.#turns = turns;
    this.ids = nodes.id;
    this.size = nodes.id.length;
    this.parent = new Int32Array(nodes.parent);
    this.marks = new Uint8Array(nodes.marks);
    this.stale = new Uint8Array(nodes.stale);
    this.selected = new Uint8Array(nodes.selected);
    const counts = new Int32Array(this.size + 1);
    let roots = 0;
    // A remark stands beside the turns: it has no depth and no place here.
    for (let at = 0; at < this.size; at++) {
      const parent = this.parent[at] ?? -1;
      if (!this.isTurn(at)) continue;
      if (parent >= 0) counts[parent + 1] = (counts[parent + 1] ?? 0) + 1;
      else roots++;
    }
    for (let at = 0; at < this.size; at++) counts[at + 1] = (counts[at + 1] ?? 0) + (counts[at] ?? 0);
    this.#first = counts;
    this.#children = new Int32Array(counts[this.size] ?? 0);
    this.roots = new Int32Array(roots);
    this.turnCount = roots + this.#children.length;
    const filled = counts.slice();
    let root = 0;
    for (let at = 0; at < this.size; at++) {
      if (!this.isTurn(at)) continue;
      const parent = this.parent[at] ?? -1;
      if (parent < 0) this.roots[root++] = at;
      else {
        const place = filled[parent] ?? 0;
        this.#children[place] = at;
        filled[parent] = place + 1;
      }
    }
    this.cursor = cursorNodeId ? this.ids.lastIndexOf(cursorNodeId) : -1;
  }

  /** Index of a node in the columns. */
  at(id: string): number | undefined {
    this.#places ??= new Map(this.ids.map((one, index) => [one, index]));
    return this.#places.get(id);
  }
  id = (at: number): string => this.ids[at] ?? "";
  isTurn = (at: number): boolean => (this.#columns.depth[at] ?? 0) > 0;
  depth = (at: number): number => this.#columns.depth[at] ?? 0;
  author = (at: number): Author => AUTHORS[this.#columns.author[at] ?? ""] ?? "system";
  status = (at: number): "complete" | "pending" | "failed" => {
    const letter = this.#columns.status[at];
    return letter === "p" ? "pending" : letter === "f" ? "failed" : "complete";
  };
  createdAt = (at: number): number => this.#columns.createdAt[at] ?? 0;
  ordinal = (at: number): number => this.#columns.ordinal[at] ?? 0;
  turn = (at: number): string | undefined => this.#turns[this.#columns.turn[at] ?? -1];
  childCount = (at: number): number => (this.#first[at + 1] ?? 0) - (this.#first[at] ?? 0);
  children = (at: number): Int32Array => this.#children.subarray(this.#first[at], this.#first[at + 1]);
  siblings(at: number): Int32Array {
    const parent = this.parent[at] ?? -1;
    return parent < 0 ? this.roots : this.children(parent);
  }

  /** From a node up to its root. */
  *upFrom(at: number): Generator<number> {
    for (let node = at; node >= 0; node = this.parent[node] ?? -1) yield node;
  }

  /** Number of descendants of a node. */
  below(at: number): number {
    let count = 0;
    const waiting = [at];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const child of this.children(node)) {
        count++;
        waiting.push(child);
      }
    }
    return count;
  }
}
