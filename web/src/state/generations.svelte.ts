// Generations of the answers in sight, fetched in batches so that a long conversation costs few requests.
import { SvelteMap } from "svelte/reactivity";
import type { Generation } from "./generation";
import { fetchGenerations } from "./cost";

/** Delay that collects nodes coming into sight into one request. */
const GATHER_MS = 60;

export class Generations {
  readonly of = new SvelteMap<string, Generation>();
  #asked = new Set<string>();
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Asks about those of these nodes that were not asked about before. */
  want(nodes: readonly string[]): void {
    for (const node of nodes) {
      if (this.#asked.has(node)) continue;
      this.#asked.add(node);
      this.#waiting.push(node);
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#ask(), GATHER_MS);
  }
  /** It has come to its end, or something about it changed. */
  again(node: string): void {
    this.#asked.delete(node);
    this.want([node]);
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    const nodes = this.#waiting.splice(0);
    try {
      for (const [node, generation] of await fetchGenerations(nodes)) this.of.set(node, generation);
    } catch {
      // The message is complete without it; it is fetched again when in sight again.
      nodes.forEach((node) => this.#asked.delete(node));
    }
  }
}
