// Words that are being said right now, by node. Text is put on the screen thirty times a second at most.
import { SvelteMap } from "svelte/reactivity";
import { listen } from "../api/stream";
import type { Problem } from "../api/problem";
import { TokenRate } from "./rate";

export interface LiveAnswer {
  executionId: string;
  text: string;
  startedAt: number;
  /** Nothing more can be heard, and why. */
  problem?: Problem;
}
const FLUSH_MS = 33;
/** Interval at which the speed is measured while text streams. */
const RATE_MS = 500;

class Answers {
  readonly saying = new SvelteMap<string, LiveAnswer>();
  /** Tokens a second of all that is being said, reckoned from characters. */
  rate = $state<number>();
  #speed = new TokenRate();
  #look: ReturnType<typeof setTimeout> | undefined;
  #stops = new Map<string, () => void>();
  #buffers = new Map<string, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Listens to the run that makes a node; `ended` is called when it is over. */
  follow(node: string, executionId: string, ended: (status: string) => void): void {
    if (this.#stops.has(node)) return;
    this.saying.set(node, { executionId, text: "", startedAt: Date.now() });
    const put = (text: string) => {
      this.#buffers.set(node, text);
      this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    };
    const stop = listen(executionId, {
      text: (piece) => put((this.#buffers.get(node) ?? "") + piece),
      reset: (text) => put(text),
      end: (status) => {
        this.#flush();
        ended(status);
      },
      problem: (problem) => {
        const saying = this.saying.get(node);
        if (saying) this.saying.set(node, { ...saying, problem });
        ended("unknown");
      },
    });
    this.#stops.set(node, stop);
  }

  /** The finished text is there: what was heard is no longer needed. */
  drop(node: string): void {
    this.#stops.get(node)?.();
    this.#stops.delete(node);
    this.#buffers.delete(node);
    this.saying.delete(node);
    if (this.saying.size === 0) this.#rest();
  }

  isFollowed = (node: string): boolean => this.#stops.has(node);

  dropAll(): void {
    for (const node of [...this.#stops.keys()]) this.drop(node);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [node, text] of this.#buffers) {
      const saying = this.saying.get(node);
      if (!saying || saying.text === text) continue;
      // Text from before the subscription arrives at once and does not count for the speed.
      if (saying.text !== "") this.#speed.add(text.length - saying.text.length, performance.now());
      this.saying.set(node, { ...saying, text });
      this.#look ??= setTimeout(() => this.#reckon(), RATE_MS);
    }
  }

  #reckon(): void {
    this.rate = this.#speed.at(performance.now());
    this.#look = this.saying.size > 0 ? setTimeout(() => this.#reckon(), RATE_MS) : undefined;
  }
  #rest(): void {
    clearTimeout(this.#look);
    this.#look = undefined;
    this.#speed.clear();
    this.rate = undefined;
  }
}
export const answers = new Answers();
