import { describe, expect, it } from "vitest";
import { regenerationSteps } from "../../src/screens/conversation/regeneration.svelte";
import { plain } from "../../src/state/content";
import { summed } from "../../src/state/cost";

const shown = (node: string, stale = false) => ({
  turn: `turn-${node}`,
  node,
  alternatives: [node],
  branchTurns: [],
  stale,
  belowStale: false,
});
const author = (node: string) => (node.startsWith("a") ? "model" : node.startsWith("q") ? "human" : "system");
const process = (node: string) => (node === "a9" ? undefined : "chat");

describe("regeneration steps", () => {
  it("answers in order, with what was said between them", () => {
    const path = [shown("q1"), shown("a1", true), shown("q2"), shown("a2")];
    expect(regenerationSteps(path, 1, author, process).map(({ kind, node }) => `${kind} ${node}`)).toEqual([
      "answer a1",
      "said q2",
      "answer a2",
    ]);
  });
  it("ends with an answer, and where nobody knows who answers", () => {
    const path = [shown("q1"), shown("a1", true), shown("q2"), shown("a9"), shown("q3"), shown("a3")];
    expect(regenerationSteps(path, 1, author, process).map(({ node }) => node)).toEqual(["a1"]);
  });
});

describe("the estimated cost", () => {
  const owed = (amount: string, currency = "USD") => ({
    isComplete: true,
    owed: [{ amount, currency, payerId: "user_1" }],
  });
  it("is summed by currency, and what is not known is counted", () => {
    const { owed: sum, unknown } = summed([owed("0.5"), owed("0.25"), owed("1", "EUR"), undefined]);
    expect([...sum]).toEqual([
      ["USD", 0.75],
      ["EUR", 1],
    ]);
    expect(unknown).toBe(1);
  });
  it("is known in part where not every call has a price", () => {
    const { owed: sum, unknown } = summed([{ ...owed("0.5"), isComplete: false }]);
    expect([[...sum], unknown]).toEqual([[["USD", 0.5]], 1]);
  });
});

describe("words without marks", () => {
  it("leaves what was said", () => {
    expect(plain("You told me:\n\n> - On 3 March **eleven** herons\n>\n> — you, message 1")).toBe(
      "You told me: On 3 March eleven herons — you, message 1",
    );
    expect(plain("eleven grey herons", 12)).toBe("eleven grey…");
    expect(plain("| Day | Herons |\n| --- | ---: |\n| 3 March | 11 |")).toBe("Day Herons 3 March 11");
    expect(plain("1. [a link](http://x) and `code` and snake_case")).toBe("a link and code and snake_case");
  });
});
