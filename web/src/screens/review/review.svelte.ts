// One review with what surrounds it: the run that waits, the step that asks, and what is being decided.
import { call, type Schemas } from "../../api/client";
import { draft, dropDraft, keepDraft } from "../../state/drafts";
import { LatestRequest } from "../../state/latestRequest";
import { type Unread } from "../../ui/json";
import type { Process, Step } from "../processes/definition";
import type { RunView } from "../runs/trace";
import { asReview, stepOf, usualScope, type Decision, type ReviewView, type Scope } from "./reviewRequest";

interface ReviewDraft {
  inputs?: Record<string, unknown>;
  value?: Record<string, unknown>;
  reason?: string;
  question?: string;
  unread?: Unread;
}

export class ReviewStore {
  readonly id: string;
  review = $state.raw<ReviewView>();
  run = $state.raw<RunView>();
  step = $state.raw<Step>();
  problem = $state.raw<unknown>();
  decideProblem = $state.raw<unknown>();
  delegateProblem = $state.raw<unknown>();
  backProblem = $state.raw<unknown>();
  isDelegating = $state(false);
  /** It was another's, and is no longer in this person's hands: its words are nobody's here. */
  isGone = $state(false);
  isBusy = $state(false);
  isEditing = $state(false);
  isDenying = $state(false);
  isAsking = $state(false);
  inputs = $state<Record<string, unknown>>({});
  value = $state<Record<string, unknown>>({});
  reason = $state("");
  /** Question to the model before the decision. */
  question = $state("");
  /** Invalid JSON of the fields; it blocks the decision. */
  #unread = $state<Unread>({});
  #newest = new LatestRequest();
  /** As it was chosen; as the step says until then. */
  #scope = $state<Scope>();

  constructor(id: string) {
    this.id = id;
    const typed = draft<ReviewDraft>(this.#place, {});
    this.value = typed.value ?? {};
    this.reason = typed.reason ?? "";
    this.question = typed.question ?? "";
    this.#unread = typed.unread ?? {};
    if (typed.inputs) {
      this.inputs = typed.inputs;
      this.isEditing = true;
    }
  }
  get #place(): string {
    return `review/${this.id}`;
  }
  unread(where: "inputs" | "value"): string | undefined {
    return this.#unread[where];
  }
  stand(where: "inputs" | "value", text: string | undefined): void {
    this.#unread[where] = text;
    this.typed();
  }
  get isOpen(): boolean {
    return this.review?.status === "open";
  }
  get scope(): Scope {
    const asked = this.review?.asked;
    return this.#scope ?? (asked ? usualScope(asked, this.step) : "once");
  }
  set scope(scope: Scope) {
    this.#scope = scope;
  }
  /** True if the arguments were edited. */
  get isEdited(): boolean {
    const asked = this.review?.asked;
    if (!this.isEditing || !asked || asked.kind === "answer") return false;
    return this.#unread.inputs !== undefined || JSON.stringify(this.inputs) !== JSON.stringify(asked.inputs);
  }

  async load(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const review = asReview(await call("get", "/api/v1/reviews/{id}", { params: { id: this.id } }));
      if (!isNewest()) return;
      this.review = review;
      this.problem = undefined;
      this.isGone = false;
    } catch (error) {
      if (isNewest()) this.problem = error;
      return;
    }
    // The run is optional context, so the decision does not wait for it. A delegate cannot read it.
    const { executionId } = this.review;
    if (!executionId) return;
    try {
      const run = await call("get", "/api/v1/executions/{id}", { params: { id: executionId } });
      this.run = run;
      const process: Process = await call("get", "/api/v1/processes/{id}", {
        params: { id: run.processId },
        query: { version: run.processVersion },
      });
      this.step = stepOf(process, this.review.stepId);
    } catch {
      this.step = undefined;
    }
  }

  /** Its owner took it back, or settled it. */
  lose(): void {
    this.#newest.ask();
    this.review = undefined;
    this.isGone = true;
    this.inputs = this.value = {};
    this.reason = this.question = "";
    dropDraft(this.#place);
  }

  edit(): void {
    const asked = this.review?.asked;
    if (!asked || asked.kind === "answer" || this.isEditing) return;
    this.inputs = structuredClone(asked.inputs);
    this.isEditing = true;
  }
  put(inputs: Record<string, unknown>): void {
    this.inputs = inputs;
    this.typed();
  }
  unedit(): void {
    this.isEditing = false;
    this.#unread.inputs = undefined;
    this.typed();
  }
  because(reason: string): void {
    this.reason = reason;
    this.typed();
  }
  wonder(question: string): void {
    this.question = question;
    this.typed();
  }
  /** Keeps what was typed until it is decided. */
  typed(): void {
    const inputs = this.isEdited ? $state.snapshot(this.inputs) : undefined;
    const [value, unread] = [$state.snapshot(this.value), $state.snapshot(this.#unread)];
    keepDraft(this.#place, { inputs, value, reason: this.reason, question: this.question, unread });
  }

  /** Asks somebody else to decide, or takes that back. */
  async delegate(to: Schemas["DelegateBody"]): Promise<boolean> {
    if (this.isDelegating) return false;
    this.isDelegating = true;
    this.delegateProblem = this.backProblem = undefined;
    try {
      const asked = await call("put", "/api/v1/reviews/{id}/delegate", { params: { id: this.id }, body: to });
      this.#newest.ask();
      this.review = asReview(asked);
      return true;
    } catch (error) {
      if (to.userId === null) this.backProblem = error;
      else this.delegateProblem = error;
      return false;
    } finally {
      this.isDelegating = false;
    }
  }

  async decide(decision: Decision): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.decideProblem = undefined;
    try {
      const decided = await call("post", "/api/v1/reviews/{id}/decide", {
        params: { id: this.id },
        body: decision,
      });
      this.#newest.ask();
      this.review = asReview(decided);
      dropDraft(this.#place);
      return true;
    } catch (error) {
      this.decideProblem = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
