import { describe, expect, it } from "vitest";
import { blankDefinition, type Process } from "../../src/screens/processes/definition";
import {
  canAskBack,
  decisionWords,
  expiryWords,
  formSchema,
  handsWords,
  isApprovable,
  leftWords,
  risksOf,
  scopesOf,
  stepOf,
  usualScope,
  type ReviewRequest,
} from "../../src/screens/review/reviewRequest";

const ask = (id: string, more = {}) => ({ id, output: { variable: id }, ...more });
const process = {
  ...blankDefinition(),
  steps: [ask("a", { fallback: [ask("a_again")] }), ask("b")],
} as unknown as Process;

describe("a review", () => {
  it("finds its step, also one that stands in for another", () => {
    expect(stepOf(process, "b")?.id).toBe("b");
    expect(stepOf(process, "step 3")?.id).toBe("a_again");
    expect(stepOf(process, "nowhere")).toBeUndefined();
  });
  it("says what happens when it expires", () => {
    expect(expiryWords(ask("a", { review: { onExpire: "skip" } }))).toContain("skipped");
    expect(expiryWords(ask("a", { review: { onExpire: "default", default: 3 } }))).toContain("3");
    expect(expiryWords(ask("a", { review: {} }))).toContain("fails");
  });
  it("says how far an approval reaches", () => {
    const wish = { kind: "wish" as const, toolId: "t", name: "t", inputs: {} };
    expect(usualScope(wish, ask("a", { tools: [{ toolId: "t", approval: "once" }] }))).toBe("run");
    expect(usualScope(wish, ask("a", { tools: [{ toolId: "t", approval: "always" }] }))).toBe("once");
    expect(decisionWords({ decision: "approve", scope: "always" }, "decided")).toBe(
      "Approved. For this tool, always.",
    );
    expect(decisionWords({ decision: "approve", scope: "once" }, "decided")).toBe("Approved.");
  });
  it("says in whose hands it is", () => {
    const [anna, ben] = [
      { id: "user_a", name: "Anna" },
      { id: "user_b", name: "Ben" },
    ];
    expect(handsWords({})).toBeUndefined();
    expect(handsWords({ askedBy: anna, delegate: ben })).toBe("Anna asks you");
    expect(handsWords({ delegate: ben })).toBe("Ben was asked");
    expect(handsWords({ delegate: ben, decidedBy: ben })).toBe("Ben decided");
    expect(handsWords({ delegate: ben, decidedBy: anna })).toBe("Ben was asked");
    expect(scopesOf({}).map(({ value }) => value)).toContain("always");
    expect(scopesOf({ askedBy: anna }).map(({ value }) => value)).toEqual(["once", "sameArguments", "run"]);
  });
  it("is asked back where a model can answer its owner", () => {
    const wish: ReviewRequest = { kind: "wish", toolId: "t", name: "t", inputs: {} };
    const call: ReviewRequest = { kind: "call", toolId: "t", inputs: {} };
    expect(canAskBack({ asked: wish })).toBe(true);
    expect(canAskBack({ asked: wish, askedBy: { id: "user_a", name: "Anna" } })).toBe(false);
    expect(canAskBack({ asked: call })).toBe(false);
    expect(decisionWords({ decision: "ask", question: "Why?" }, "decided")).toContain("Why?");
  });
  it("is approved with others where nothing has to be said", () => {
    const call: ReviewRequest = { kind: "call", toolId: "t", inputs: {} };
    const question: ReviewRequest = { kind: "answer", prompt: "?", schema: {} };
    expect(isApprovable({ asked: call, status: "open" })).toBe(true);
    expect(isApprovable({ asked: call, status: "decided" })).toBe(false);
    expect(isApprovable({ asked: question, status: "open" })).toBe(false);
  });
  it("says what a call may do", () => {
    const tool = (operation: Record<string, unknown>, more = {}) => ({ operation, ownerId: "me", ...more });
    const labels = (of: Parameters<typeof risksOf>[0]) => risksOf(of, "me").map(({ label }) => label);
    expect(labels(tool({ type: "rest_call", method: "GET" }))).toEqual(["only reads"]);
    expect(labels(tool({ type: "rest_call", method: "POST" }, { secretId: "s", ownerId: "you" }))).toEqual([
      "may change things",
      "uses a secret",
      "shared by another user",
    ]);
    expect(labels(undefined)).toEqual([]);
  });
  it("asks for one value where no object is asked for", () => {
    expect(formSchema({ type: "string" }).isWrapped).toBe(true);
    expect(formSchema({ type: "object", properties: { a: {} } }).isWrapped).toBe(false);
  });
  it("counts down", () =>
    expect([leftWords(-1), leftWords(5_000), leftWords(65_000), leftWords(90_000_000)]).toEqual([
      "expired",
      "5 s",
      "1 min 5 s",
      "1 d 1 h",
    ]));
});
