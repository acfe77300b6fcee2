// Reads the turns before a hit when it comes into sight, so that hits can be told apart.
import { call } from "../../api/client";
import { briefOf, textOf } from "../inspector/content";

const STEPS = 3;
const AT_ONCE = 3;

export interface Crumb {
  /** Depth of the hit, itself included. */
  depth: number;
  onPath: boolean;
  before: { id: string; brief: string }[];
}

class Crumbs {
  #known = $state.raw<ReadonlyMap<string, Crumb>>(new Map());
  #asked = new Set<string>();
  #waiting: { node: string; conversation: string }[] = [];
  #running = 0;

  of(node: string): Crumb | undefined {
    return this.#known.get(node);
  }
  want(node: string, conversation: string): void {
    if (this.#asked.has(node)) return;
    this.#asked.add(node);
    this.#waiting.push({ node, conversation });
    this.#go();
  }
  #go(): void {
    while (this.#running < AT_ONCE) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#running++;
      void this.#read(next.node, next.conversation);
    }
  }
  async #read(node: string, conversation: string): Promise<void> {
    try {
      const { data } = await call("get", "/api/v1/conversations/{id}/path", {
        params: { id: conversation },
        query: { nodeId: node, limit: STEPS + 1 },
      });
      const own = data.at(-1);
      const before = data
        .slice(0, -1)
        .map((one) => ({ id: one.id, brief: briefOf(textOf(one.content), 40) }));
      const crumb = { depth: own?.depth ?? data.length, onPath: own?.onPath ?? true, before };
      this.#known = new Map(this.#known).set(node, crumb);
    } catch {
      // A hit without its crumb is still a hit.
      this.#asked.delete(node);
    }
    this.#running--;
    this.#go();
  }
}
export const crumbs = new Crumbs();

/** For `use:`: asks once the element comes into sight. */
export function inSight(element: HTMLElement, ask: () => void) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    ask();
  });
  observer.observe(element);
  return { destroy: () => observer.disconnect() };
}
