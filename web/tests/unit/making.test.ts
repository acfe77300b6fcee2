import { describe, expect, it } from "vitest";
import {
  callStatus,
  shownCalls,
  usedInFull,
  usedWords,
  type MadeCall,
  type Making,
} from "../../src/state/making";

const call = (more: Partial<MadeCall>): MadeCall => ({
  id: "item_1",
  executionId: "run_1",
  operation: "rest_call",
  caller: "model",
  isOwn: false,
  status: "success",
  ...more,
});
const making = (more: Partial<Making>): Making => ({
  nodeId: "item_0",
  executionId: "run_1",
  calls: [],
  ...more,
});
const cost = (amount: string, isComplete: boolean) => ({
  owed: [{ payerId: "user_1", currency: "USD", amount }],
  isComplete,
});

describe("how an answer was made", () => {
  it("is told in a few words, and only what is known", () => {
    expect(usedWords(making({ inputTokens: 1000, outputTokens: 204 }))).toBe("1,204 tokens");
    expect(usedWords(making({ inputTokens: 7, cost: cost("0.0042", true) }))).toBe("7 tokens · 0.0042 USD");
    expect(usedWords(making({ cost: cost("0.5", false) }))).toBe("0.5 USD or more");
    expect(usedWords(making({}))).toBe("");
    expect(usedInFull(making({ inputTokens: 7, calls: [call({})] }))).toBe(
      "7 tokens read, 1 call. Opens the run.",
    );
  });
  it("shows the tools that were called, not the model nor what every process asks first", () => {
    const calls = [
      call({ id: "context", operation: "mcp_tool", isOwn: true, caller: "process" }),
      call({ id: "model", operation: "llm_call", caller: "process" }),
      call({ id: "search", operation: "mcp_tool", isOwn: true }),
      call({ id: "weather", caller: "process" }),
    ];
    expect(shownCalls(making({ calls })).map(({ id }) => id)).toEqual(["search", "weather"]);
  });
  it("says how a call stands", () => {
    expect(["success", "error", "unknown", null].map((status) => callStatus(call({ status })))).toEqual([
      "done",
      "failed",
      "nobody saw its end",
      "under way",
    ]);
  });
});
