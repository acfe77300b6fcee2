import { describe, expect, it } from "vitest";
import {
  callStatus,
  modelsOf,
  reasoningWords,
  shownCalls,
  thoughtIn,
  usedInFull,
  usedWords,
  type GenerationCall,
  type Generation,
} from "../../src/state/generation";
import { reasoningOf } from "../../src/state/reasoning";

const call = (more: Partial<GenerationCall>): GenerationCall => ({
  id: "item_1",
  executionId: "run_1",
  operation: "rest_call",
  caller: "model",
  isOwn: false,
  reasoningIsEstimate: false,
  status: "success",
  error: null,
  latencyMs: null,
  model: null,
  rawResponseId: null,
  reasoningTokens: null,
  toolId: null,
  toolName: null,
  ...more,
});
const generation = (more: Partial<Generation>): Generation => ({
  nodeId: "item_0",
  executionId: "run_1",
  calls: [],
  cost: null,
  inputTokens: null,
  outputTokens: null,
  ...more,
});
const cost = (amount: string, isComplete: boolean) => ({
  owed: [{ payerId: "user_1", currency: "USD", amount }],
  isComplete,
});

describe("a generation", () => {
  it("is told in a few words, and only what is known", () => {
    expect(usedWords(generation({ inputTokens: 1000, outputTokens: 204 }))).toBe("1,204 tokens");
    expect(usedWords(generation({ inputTokens: 7, cost: cost("0.0042", true) }))).toBe(
      "7 tokens · 0.0042 USD",
    );
    expect(usedWords(generation({ cost: cost("0.5", false) }))).toBe("0.5 USD or more");
    expect(usedWords(generation({}))).toBe("");
    expect(usedInFull(generation({ inputTokens: 7, calls: [call({})] }))).toBe(
      "7 input tokens, 1 call. Opens the run.",
    );
  });
  it("shows the tools that were called, not the model nor what every process asks first", () => {
    const calls = [
      call({ id: "context", operation: "mcp_tool", isOwn: true, caller: "process" }),
      call({ id: "model", operation: "llm_call", caller: "process" }),
      call({ id: "search", operation: "mcp_tool", isOwn: true }),
      call({ id: "weather", caller: "process" }),
    ];
    expect(shownCalls(generation({ calls })).map(({ id }) => id)).toEqual(["search", "weather"]);
  });
  it("says how a call stands", () => {
    expect(["success", "error", "unknown", null].map((status) => callStatus(call({ status })))).toEqual([
      "completed",
      "failed",
      "outcome unknown",
      "running",
    ]);
  });
  it("names the models that answered, each once, and what they thought aloud", () => {
    const calls = [
      call({
        id: "a",
        operation: "llm_call",
        model: "large",
        rawResponseId: "item_2",
        reasoningTokens: 1200,
        reasoningIsEstimate: true,
      }),
      call({ id: "b", operation: "llm_call", model: "large", rawResponseId: "item_3" }),
      call({ id: "c", operation: "llm_call", model: "broken", status: "error" }),
      call({ id: "d", operation: "llm_call", model: "small", reasoningTokens: 3 }),
    ];
    expect(modelsOf(generation({ calls }))).toEqual(["large", "small"]);
    expect(thoughtIn(generation({ calls })).map(reasoningWords)).toEqual(["about 1,200 tokens"]);
  });
  it("says about of what nobody counted, and of nothing else", () => {
    const words = (reasoningTokens: number, reasoningIsEstimate: boolean) =>
      reasoningWords(call({ reasoningTokens, reasoningIsEstimate }));
    expect([words(1200, true), words(1200, false), words(1, false)]).toEqual([
      "about 1,200 tokens",
      "1,200 tokens",
      "1 token",
    ]);
  });
});

describe("the reasoning of a model", () => {
  const raw = (body: string) => `{"content-type":"text/plain"}\n\n${body}`;
  const streamed = (...documents: unknown[]) =>
    raw(documents.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + "data: [DONE]\n\n");
  const chunk = (delta: object) => ({ choices: [{ delta }] });

  it("is read from chat completions, whole and streamed", () => {
    const whole = { choices: [{ message: { content: "Four.", reasoning_content: "Two and two." } }] };
    expect(reasoningOf(raw(JSON.stringify(whole)))).toBe("Two and two.");
    const pieces = [{ reasoning: "Two " }, { reasoning_content: "and two." }, { content: "Four." }];
    expect(reasoningOf(streamed(...pieces.map(chunk)))).toBe("Two and two.");
  });
  it("is read from messages, whole and streamed", () => {
    const whole = {
      content: [
        { type: "thinking", thinking: "She greets." },
        { type: "text", text: "Hello" },
      ],
    };
    expect(reasoningOf(raw(JSON.stringify(whole, null, 2)))).toBe("She greets.");
    const pieces = [
      { type: "content_block_start", content_block: { type: "thinking", thinking: "" } },
      { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "She greets." } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "Hello" } },
    ];
    expect(reasoningOf(streamed(...pieces))).toBe("She greets.");
  });
  it("is nothing where there is none, or where nobody can read it", () => {
    expect(reasoningOf(streamed(chunk({ content: "Four." })))).toBe("");
    expect(reasoningOf(raw("<html>502</html>"))).toBe("");
    expect(reasoningOf("")).toBe("");
  });
});
