// When this browser last had a conversation verified, and what came of it.
import { call, type Schemas } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { writeStored, readStored } from "./browserStorage";

export interface LastVerification {
  verdict: string;
  nodes: number;
  /** In milliseconds. */
  at: number;
}
const placeOf = (conversation: string): string => `verified/${conversation}`;
const isGood = (verdict: string): boolean => verdict !== "invalid" && verdict !== "incomplete";

/** Verification state of one conversation. */
export class Verification {
  readonly conversation: string;
  last = $state.raw<LastVerification>();
  busy = $state(false);
  problem = $state.raw<Problem>();

  constructor(conversation: string) {
    this.conversation = conversation;
    this.last = readStored<LastVerification | undefined>(placeOf(conversation), undefined);
  }

  get isGood(): boolean {
    return this.last !== undefined && isGood(this.last.verdict);
  }

  /** Has every hash of the conversation looked at again. */
  async again(): Promise<Schemas["VerificationView"] | undefined> {
    if (this.busy) return undefined;
    this.busy = true;
    this.problem = undefined;
    try {
      const report = await call("get", "/api/v1/conversations/{id}/verify", {
        params: { id: this.conversation },
      });
      this.last = { verdict: report.verdict, nodes: report.nodes, at: Date.now() };
      writeStored(placeOf(this.conversation), this.last);
      return report;
    } catch (error) {
      this.problem = asProblem(error);
      return undefined;
    } finally {
      this.busy = false;
    }
  }
}
