// Asks the worker for a layout; only the last question counts.
import type { LayoutResponse, LayoutRequest } from "./layout.worker";
import { layoutOf, type Layout, type Stage } from "./layout";

/** Smaller trees are laid out at once, which is quicker than to ask. */
const AT_ONCE_MAX = 400;

export class Planner {
  #worker: Worker | undefined;
  #asks = 0;

  /** Makes the worker ready while the tree is still on its way. */
  warm(): void {
    if (typeof Worker === "undefined") return;
    this.#worker ??= new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  }

  plan(parent: Int32Array, tell: (stage: Stage) => void): Promise<Layout | undefined> {
    const ask = ++this.#asks;
    if (parent.length > AT_ONCE_MAX) this.warm();
    const worker = this.#worker;
    if (!worker || parent.length <= AT_ONCE_MAX) return Promise.resolve(layoutOf(parent));
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => {
        worker.removeEventListener("message", hear);
        worker.removeEventListener("error", fail);
        finish();
      };
      const hear = ({ data }: MessageEvent<LayoutResponse>) => {
        if (data.ask !== ask) return;
        if ("stage" in data) return void (ask === this.#asks && tell(data.stage));
        if ("failed" in data) return end(() => reject(new Error(data.failed)));
        end(() => resolve(ask === this.#asks ? data.layout : undefined));
      };
      const fail = (event: ErrorEvent) => end(() => reject(new Error(event.message || "the layout failed")));
      worker.addEventListener("message", hear);
      worker.addEventListener("error", fail);
      const asked: LayoutRequest = { ask, parent: parent.slice() };
      worker.postMessage(asked, [asked.parent.buffer]);
    });
  }

  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
