import { describe, expect, it } from "vitest";
import { commonOf } from "../../src/screens/compare/comparison.svelte";
import { hunksOf, mergedOf } from "../../src/screens/compare/hunks";
import { durationOf, metricsOf, wordCount } from "../../src/screens/compare/metrics";
import { briefOf, textOf } from "../../src/screens/inspector/content";
import { canonical, hashedText, sha256 } from "../../src/screens/inspector/nodeHash";
import { reportOf } from "../../src/screens/inspector/verdicts";
import { areAlike, readable } from "../../src/ui/diffParts";
import { differenceOf, signed } from "../../src/screens/inspector/lastCallDiff";
import { offeredTool, offerName } from "../../src/screens/inspector/offeredTools";
import {
  imagesOf,
  overshoot,
  planFor,
  sharesOf,
  whyOf,
  type Part,
} from "../../src/screens/inspector/contextWindow";

describe("content", () => {
  it("finds the words in any content", () => {
    expect(textOf({ type: "text", text: "Hello" })).toBe("Hello");
    expect(
      textOf({
        type: "mixed",
        blocks: [
          { type: "text", text: "A" },
          { type: "image", altText: "a tree" },
        ],
      }),
    ).toBe("A\n\n[image: a tree]");
    expect(textOf(null)).toBe("");
  });
  it("makes a line of Markdown", () => {
    expect(briefOf("## A *plan*\n\n- first\n- [second](https://example.org)\n```js\nx\n```")).toBe(
      "A plan first second x",
    );
    expect(briefOf("snake_case stays", 100)).toBe("snake_case stays");
    expect(briefOf("x".repeat(500), 20)).toHaveLength(20);
  });
});

describe("the hash of a node", () => {
  it("writes JSON in one way", () => {
    expect(canonical({ b: [1, null], a: { d: "é\n", c: true } })).toBe(
      '{"a":{"c":true,"d":"é\\n"},"b":[1,null]}',
    );
    expect(canonical({ "\u{10000}": 1, "\uffff": 2 })).toBe('{"\uffff":2,"\u{10000}":1}');
  });
  it("covers content, parents in order, time, author without its prefix, and the raw response", () => {
    const node = {
      content: { type: "text", text: "Hi" },
      parents: ["bb", "aa"],
      createdAt: "T",
      authorId: "user_01",
    };
    expect(hashedText(node)).toBe('{"text":"Hi","type":"text"}=|d|=aa,bb=|d|=T=|d|=01');
    expect(hashedText({ ...node, rawResponse: "cc" })).toMatch(/=\|d\|=01=\|d\|=cc$/);
  });
  it("is the one the server computed", async () => {
    const text = hashedText({
      content: {
        text: "We have a slope of half an acre facing south-east. Which fruit trees would you plant first, and why?",
        type: "text",
      },
      parents: [],
      createdAt: "2026-11-15T19:49:08.087Z",
      authorId: "user_01M7GC1NX36RCE3358YC5GRBJ5",
    });
    expect(await sha256(new TextEncoder().encode(text))).toBe(
      "178eee1363731235890d7f6c54818cc5a97ee1cb9b144c0d48c46d1f3932c957",
    );
  });
});

describe("verification", () => {
  it("is as good as its worst node, the first from the root on", () => {
    const links = ["valid", "invalid", "redacted", "invalid", "valid"].map((verdict, at) => ({
      nodeId: `item_${at}`,
      verdict,
    }));
    const report = reportOf(links);
    expect(report).toMatchObject({ verdict: "invalid", firstNodeId: "item_3", nodes: 5 });
    expect(report.counts).toMatchObject({ valid: 2, invalid: 2, redacted: 1 });
    expect(reportOf([{ nodeId: "item_1", verdict: null }])).toMatchObject({ verdict: "valid", nodes: 0 });
  });
});

describe("context", () => {
  const part = (kind: string, tokens: number, more: Partial<Part> = {}): Part => ({
    kind,
    tokens,
    included: true,
    nodeId: null,
    droppedBecause: null,
    reason: null,
    ...more,
  });
  it("adds tokens up by kind and leaves out what is not shown", () => {
    const parts = [
      part("systemContext", 10),
      part("node", 30),
      part("node", 10),
      part("node", 99, { included: false }),
    ];
    expect(sharesOf(parts, 100)).toEqual([
      { kind: "system", tokens: 10, percent: 10 },
      { kind: "path", tokens: 40, percent: 40 },
    ]);
  });
  it("says why", () => {
    expect(whyOf(part("node", 1, { included: false, droppedBecause: "excluded" }))).toBe("excluded by you");
    expect(whyOf(part("context", 1, { reason: "said of frost" }))).toBe("said of frost");
  });
});

describe("compare", () => {
  it("finds where paths part", () => {
    expect(
      commonOf([
        ["a", "b", "c"],
        ["a", "b", "d"],
      ]),
    ).toBe(2);
    expect(commonOf([["a"], ["a", "b"]])).toBe(1);
    expect(commonOf([[], ["a"]])).toBe(0);
  });
  it("shows a dash for what is not known", () => {
    expect(metricsOf({ id: "item_1" }).map(({ shown }) => shown)).toEqual(["—", "—", "—", "—"]);
    expect(durationOf("2026-11-15T10:00:00.000Z", "2026-11-15T10:00:01.250Z")).toBe("1.3 s");
    expect(wordCount("  two words ")).toBe(2);
  });
});

describe("merging", () => {
  const parts = [
    { value: "There were " },
    { value: "eleven", removed: true },
    { value: "nine", added: true },
    { value: " herons" },
    { value: " at dusk", added: true },
    { value: "." },
  ];
  it("makes a choice of each difference, in either order", () => {
    const hunks = hunksOf(parts);
    expect(hunks.map(({ kind }) => kind)).toEqual(["same", "choice", "same", "choice", "same"]);
    expect(mergedOf(hunks, new Set())).toBe("There were eleven herons.");
    expect(mergedOf(hunks, new Set([1]))).toBe("There were nine herons.");
    expect(mergedOf(hunks, new Set([1, 3]))).toBe("There were nine herons at dusk.");
    const turned = hunksOf([
      { value: "b", added: true },
      { value: "a", removed: true },
    ]);
    expect(turned).toEqual([{ kind: "choice", base: "a", other: "b" }]);
  });
});

describe("differences", () => {
  it("joins changes that only white space keeps apart", () => {
    const parts = [
      { value: "the crop will be fine; " },
      { value: "may", removed: true },
      { value: "might", added: true },
      { value: " " },
      { value: "survive", removed: true },
      { value: "last", added: true },
      { value: " the frost" },
    ];
    expect(readable(parts)).toEqual([
      { value: "the crop will be fine; " },
      { value: "may survive", removed: true },
      { value: "might last", added: true },
      { value: " the frost" },
    ]);
  });
  it("knows texts that have hardly a word in common", () => {
    const other = [
      { value: "one two three", removed: true },
      { value: "four five six", added: true },
      { value: " seven" },
    ];
    expect(areAlike(other)).toBe(false);
    expect(areAlike([{ value: "one two" }, { value: " three", added: true }])).toBe(true);
    expect(areAlike([])).toBe(true);
  });
});

describe("since the last call", () => {
  const part = (kind: string, nodeId: string | null, tokens: number, included = true): Part => ({
    kind,
    nodeId,
    tokens,
    included,
    droppedBecause: null,
    reason: null,
  });
  it("tells what came in, what went out, and what changed", () => {
    const before = [part("systemContext", null, 10), part("node", "a", 5), part("node", "b", 7)];
    const after = [
      part("systemContext", null, 12),
      part("node", "a", 5),
      part("node", "b", 7, false),
      part("marker", null, 3),
      part("node", "c", 20),
    ];
    const difference = differenceOf({ totalTokens: 22, parts: before }, { totalTokens: 40, parts: after });
    expect(
      difference.changes.map(({ kind, part, after, before }) => [kind, part.nodeId, after - before]),
    ).toEqual([
      ["out", "b", -7],
      ["changed", null, 2],
      ["in", null, 3],
      ["in", "c", 20],
    ]);
    expect([difference.same, signed(difference.tokens), signed(-1200)]).toEqual([1, "+18", "−1,200"]);
  });
  it("is empty where nothing changed", () => {
    const told = { totalTokens: 5, parts: [part("node", "a", 5), part("node", "x", 9, false)] };
    expect(differenceOf(told, told)).toEqual({ changes: [], same: 1, tokens: 0 });
  });
});

describe("images of a part", () => {
  const image = (sentAs: string, because: string | null = null) => ({
    ref: "item_1",
    sentAs,
    because,
    tokens: 85,
  });
  const part = (...images: ReturnType<typeof image>[]): Part => ({
    kind: "node",
    nodeId: "a",
    tokens: 1,
    included: true,
    droppedBecause: null,
    reason: null,
    images,
  });
  it("are said to be sent, or to be sent as text and why", () => {
    expect(imagesOf(part())).toEqual([]);
    expect(imagesOf(part(image("image"), image("image"), image("text", "tooMany")))).toEqual([
      "2 images sent",
      "1 image sent as alternative text: later images use all image slots",
    ]);
    expect(imagesOf(part(image("text", "modelWithoutImages")))).toEqual([
      "1 image sent as alternative text: the model does not accept images",
    ]);
  });
});

describe("parts above the budget", () => {
  const turn = (nodeId: string, tokens: number, reason: string | null = null): Part => ({
    kind: "node",
    nodeId,
    tokens,
    included: true,
    droppedBecause: null,
    reason,
  });
  const window = (budget: number, parts: Part[]) => ({
    budget,
    reserve: 100,
    strategy: "truncateMiddle",
    totalTokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    droppedTokens: 0,
    isEstimate: true,
    truncated: false,
    overBudget: parts.reduce((sum, { tokens }) => sum + tokens, 100) > budget,
    exact: true,
    lookedFromNodeId: null,
    inexactBecause: null,
    parts,
  });
  const parts = [turn("a", 300), turn("b", 900, "pinned"), turn("c", 500), turn("d", 200), turn("last", 800)];
  it("is counted, with what is kept free for the answer", () => {
    expect(overshoot(window(2500, parts))).toBe(300);
    expect(overshoot(window(5000, parts))).toBe(0);
  });
  it("is made room for by the fewest turns, none of them pinned or the last", () => {
    const plan = (budget: number) => planFor(window(budget, [...parts])).map(({ nodeId }) => nodeId);
    expect(plan(2500)).toEqual(["c"]);
    expect(plan(2200)).toEqual(["c", "a"]);
    expect(plan(5000)).toEqual([]);
    expect(plan(1000)).toEqual([]);
  });
});

describe("tools that are offered", () => {
  it("are spelled as providers take them, and counted", () => {
    expect(offerName("Water level (Zürich)")).toBe("water_level__z_rich_");
    expect(offerName("")).toBe("tool");
    const { tokens, definition } = offeredTool({
      id: "t",
      name: "Level",
      description: null,
      inputSchema: { type: "object" },
    });
    expect(definition).toEqual({ name: "level", parameters: { type: "object" } });
    expect(tokens).toBe(Math.ceil(JSON.stringify(definition).length / 4));
  });
});
