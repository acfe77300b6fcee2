import { describe, expect, it } from "vitest";
import { blankDefinition, type Process } from "../../src/screens/processes/definition";
import { expiryWords, formSchema, leftWords, reachOf, stepOf } from "../../src/screens/review/asked";

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
    expect(reachOf(wish, ask("a", { tools: [{ toolId: "t", approval: "once" }] })).isWide).toBe(true);
    expect(reachOf(wish, ask("a", { tools: [{ toolId: "t", approval: "always" }] })).isWide).toBe(false);
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
