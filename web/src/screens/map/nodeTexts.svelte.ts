// The words of nodes, read when they come into sight: along paths and by families, a few requests at a time.
import { call, isAbort, type Schemas } from "../../api/client";
import { briefOf, textOf } from "../inspector/content";
import type { Forest } from "./forest";

export interface Words {
  brief: string;
  label?: string;
  processId?: string;
}
type Node = Schemas["NodeView"];
type Ask = { path: number; hops: number } | { family: number };

const AT_ONCE = 4;
const HOPS_MAX = 100;
const BRIEF_CHARS = 220;

export class Texts {
  readonly forest: Forest;
  /** Grows with every text read: what is drawn depends on it. */
  revision = $state(0);
  #known = new Map<number, Words>();
  #failed = new Set<number>();
  #wanted: number[] = [];
  #running = 0;
  #abort = new AbortController();
  #done: (() => void)[] = [];

  constructor(forest: Forest, before?: Texts) {
    this.forest = forest;
    if (!before) return;
    for (const [at, words] of before.#known) {
      const place = forest.at(before.forest.id(at));
      if (place !== undefined && forest.status(place) === "complete") this.#known.set(place, words);
    }
  }

  get count(): number {
    return this.#known.size;
  }
  of(at: number): Words | undefined {
    return this.#known.get(at);
  }

  /** What is in sight now; what was asked before and is not there any more waits no longer. */
  want(nodes: Iterable<number>): void {
    this.#wanted = [...nodes].filter((at) => this.#lacks(at));
    this.#go();
  }

  /** Reads all of these; ends when they are there or cannot be had. */
  async read(nodes: Iterable<number>): Promise<void> {
    this.want(nodes);
    if (this.#wanted.length === 0 && this.#running === 0) return;
    await new Promise<void>((resolve) => this.#done.push(resolve));
  }

  stop(): void {
    this.#wanted = [];
    this.#abort.abort();
  }

  #lacks(at: number): boolean {
    return (
      !this.#known.has(at) &&
      !this.#failed.has(at) &&
      this.forest.isTurn(at) &&
      this.forest.status(at) === "complete"
    );
  }

  #go(): void {
    while (this.#running < AT_ONCE) {
      this.#wanted = this.#wanted.filter((at) => this.#lacks(at));
      const ask = nextAsk(this.forest, this.#wanted);
      if (!ask) break;
      const covered = coveredBy(this.forest, ask);
      this.#wanted = this.#wanted.filter((at) => !covered.has(at));
      this.#running++;
      void this.#read(ask, covered);
    }
    if (this.#running === 0) for (const done of this.#done.splice(0)) done();
  }

  async #read(ask: Ask, covered: Set<number>): Promise<void> {
    const { signal } = this.#abort;
    const { id, conversation } = this.forest;
    try {
      const { data } =
        "path" in ask
          ? await call("get", "/api/v1/conversations/{id}/path", {
              params: { id: conversation },
              query: { nodeId: id(ask.path), limit: ask.hops },
              signal,
            })
          : await call("get", "/api/v1/nodes/{id}/children", {
              params: { id: id(ask.family) },
              query: { limit: 1000 },
              signal,
            });
      for (const node of data) this.#keep(node);
      // What was asked and did not come would be asked for ever.
      for (const at of covered) if (!this.#known.has(at)) this.#failed.add(at);
    } catch (error) {
      if (isAbort(error)) return;
      for (const at of covered) this.#failed.add(at);
    }
    this.#running--;
    this.revision++;
    this.#go();
  }

  #keep(node: Node): void {
    const at = this.forest.at(node.id);
    if (at === undefined) return;
    const brief = node.isRedacted ? "[destroyed]" : briefOf(textOf(node.content), BRIEF_CHARS);
    this.#known.set(at, {
      brief: brief || "[empty]",
      label: node.label ?? undefined,
      processId: node.executedBy?.processId,
    });
  }
}

/** The request that brings most: a family of which several are wanted, or the path to the deepest one. */
export function nextAsk(forest: Forest, wanted: readonly number[]): Ask | undefined {
  const families = new Map<number, number>();
  let deepest = -1;
  for (const at of wanted) {
    const parent = forest.parent[at] ?? -1;
    if (parent >= 0) families.set(parent, (families.get(parent) ?? 0) + 1);
    if (deepest < 0 || forest.depth(at) > forest.depth(deepest)) deepest = at;
  }
  if (deepest < 0) return undefined;
  let hops = 1;
  const want = new Set(wanted);
  let seen = 0;
  for (const at of forest.upFrom(deepest)) {
    if (++seen > HOPS_MAX) break;
    if (want.has(at)) hops = seen;
  }
  const [family, members] = [...families].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, 0]);
  return members > hops && forest.childCount(family) <= 1000 ? { family } : { path: deepest, hops };
}

export function coveredBy(forest: Forest, ask: Ask): Set<number> {
  if ("family" in ask) return new Set(forest.children(ask.family));
  const covered = new Set<number>();
  for (const at of forest.upFrom(ask.path)) {
    if (covered.size === ask.hops) break;
    covered.add(at);
  }
  return covered;
}
