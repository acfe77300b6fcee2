// Several decisions at once: which are chosen, and what came of each.
import { SvelteSet } from "svelte/reactivity";
import { call } from "../../api/client";
import { isApprovable, type Decision, type ReviewView } from "./reviewRequest";

export interface Outcome {
  decided: number;
  /** Reviews that failed to be decided, with the reason. */
  failed: { id: string; problem: unknown }[];
}

export class Bulk {
  readonly chosen = new SvelteSet<string>();
  isBusy = $state(false);
  done = $state(0);
  total = $state(0);
  outcome = $state.raw<Outcome>();
  #isStopped = false;

  toggle(id: string): void {
    if (!this.chosen.delete(id)) this.chosen.add(id);
  }
  /** All of these, or none when all are chosen already. */
  toggleAll(open: readonly ReviewView[]): void {
    const isAll = open.every(({ id }) => this.chosen.has(id));
    this.chosen.clear();
    if (!isAll) for (const { id } of open) this.chosen.add(id);
  }
  /** Deselects reviews that were decided elsewhere. */
  keep(open: readonly ReviewView[]): void {
    const ids = new Set(open.map(({ id }) => id));
    for (const id of [...this.chosen]) if (!ids.has(id)) this.chosen.delete(id);
  }

  /** The decision that is on its way is the last; the others stay chosen. */
  stop(): void {
    this.#isStopped = true;
  }
  /** One after another, so that what cannot be decided stops none of the others. */
  async decide(open: readonly ReviewView[], decision: Decision): Promise<Outcome> {
    const meant = open.filter(
      (review) => this.chosen.has(review.id) && (decision.decision === "deny" || isApprovable(review)),
    );
    this.isBusy = true;
    this.#isStopped = false;
    this.done = 0;
    this.total = meant.length;
    const failed: Outcome["failed"] = [];
    for (const { id } of meant) {
      if (this.#isStopped) break;
      try {
        await call("post", "/api/v1/reviews/{id}/decide", { params: { id }, body: decision });
        this.chosen.delete(id);
      } catch (problem) {
        failed.push({ id, problem });
      }
      this.done += 1;
    }
    this.isBusy = false;
    this.outcome = { decided: this.done - failed.length, failed };
    return this.outcome;
  }
}
