import { describe, expect, it } from "vitest";
import {
  grouped,
  inAddress,
  marked,
  passes,
  queryOf,
  relaxed,
  remembers,
  type Hit,
} from "../../src/screens/search/query";
import { parseQuery, without } from "../../src/screens/search/typedFilters";

const hit = (nodeId: string, conversationId: string, more: Partial<Hit> = {}): Hit => ({
  id: `episode_${nodeId}`,
  nodeId,
  conversationId,
  speaker: "user",
  createdAt: "2026-11-15T10:00:00Z",
  snippet: "",
  words: [],
  ...more,
});
const nothing = queryOf(() => undefined);

describe("search", () => {
  it("stands in the address and comes back from it", () => {
    const query = {
      ...nothing,
      text: "late frost",
      speaker: "agent" as const,
      isBookmarked: true,
      since: "2026-11-01",
      until: "2026-11-30",
      isShownOnly: true,
    };
    const address = inAddress(query);
    expect(queryOf((name) => address[name])).toEqual(query);
    expect(queryOf((name) => ({ speaker: "nobody", since: "soon" })[name])).toEqual(nothing);
  });
  it("groups by conversation, the best hit first", () => {
    const groups = grouped([hit("1", "b"), hit("2", "a"), hit("3", "b")]);
    expect(groups.map(({ conversation, hits }) => [conversation, hits.length])).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
  });
  it("filters", () => {
    expect(passes(hit("1", "a"), { ...nothing, speaker: "agent" }, undefined)).toBe(false);
    expect(passes(hit("1", "a"), { ...nothing, conversation: "b" }, undefined)).toBe(false);
    expect(passes(hit("1", "a"), { ...nothing, since: "2026-12-01" }, undefined)).toBe(false);
    expect(passes(hit("1", "a"), { ...nothing, until: "2026-11-14" }, undefined)).toBe(false);
    expect(passes(hit("1", "a"), { ...nothing, until: "2026-11-15" }, undefined)).toBe(true);
    expect(passes(hit("1", "a"), nothing, new Set(["2"]))).toBe(false);
    expect(passes(hit("1", "a"), nothing, undefined)).toBe(true);
  });
  it("tells what was brought from what was said", () => {
    expect(remembers("episode_01K9", "item_01K9")).toBe(true);
    expect(remembers("episode_01KA", "item_01K9")).toBe(false);
    const imported = { source: "text", saidBy: null, knownAt: "2026-11-15T10:00:00Z" };
    const note = { ...hit("1", "a"), nodeId: undefined, conversationId: undefined, speaker: null, imported };
    expect(passes(note, nothing, undefined)).toBe(true);
    expect(passes(note, { ...nothing, speaker: "brought" }, undefined)).toBe(true);
    expect(passes(note, { ...nothing, speaker: "user" }, undefined)).toBe(false);
    expect(passes(hit("1", "a"), { ...nothing, speaker: "brought" }, undefined)).toBe(false);
    expect(grouped([hit("1", "a"), note]).map(({ conversation }) => conversation)).toEqual(["a", undefined]);
  });
  it("marks the words that were found, and what they begin", () => {
    expect(marked("Late frosts; defrost", ["frost"])).toEqual([
      { text: "Late ", isFound: false },
      { text: "frosts", isFound: true },
      { text: "; defrost", isFound: false },
    ]);
    expect(marked("a+b", ["a+b"])).toEqual([{ text: "a+b", isFound: true }]);
  });
  it("offers less when there is nothing", () => {
    expect(relaxed("zeppelin orchard")).toEqual(["zeppelin", "orchard", "zeppel", "orcha"]);
    expect(relaxed("frost")).toEqual([]);
  });
});

describe("filters that are typed", () => {
  const asked = (text: string) => parseQuery({ ...nothing, text });
  it("are taken out of the words", () => {
    const found = asked('late author:"Ada Lovelace" frost model:llama has:tool tag:checked');
    expect(found.words).toBe("late frost");
    expect([found.author, found.model, found.hasTool, found.tag, found.speaker]).toEqual([
      "Ada Lovelace",
      "llama",
      true,
      "checked",
      "agent",
    ]);
    expect(found.typed.map(({ raw }) => raw)).toEqual([
      'author:"Ada Lovelace"',
      "model:llama",
      "has:tool",
      "tag:checked",
    ]);
  });
  it("know who one is, and what a day, a month and a year are", () => {
    expect(asked("x author:me").speaker).toBe("user");
    expect(asked("x author:model").speaker).toBe("agent");
    const { since, until } = asked("x after:2026-03 before:2026-04-01");
    expect([since, until]).toEqual(["2026-03-01", "2026-03-31"]);
    expect(asked("x before:2026").until).toBe("2025-12-31");
  });
  it("leave alone what is none", () => {
    for (const text of ["before:soon", "after:2026-13-40", "has:wings", "http://a:b", "author:", "a:b:c"])
      expect([asked(text).words, asked(text).typed]).toEqual([text, []]);
  });
  it("stand beside those that were chosen, and are taken away one by one", () => {
    expect(parseQuery({ ...nothing, text: "heron", since: "2026-01-01" }).since).toBe("2026-01-01");
    expect(without("a has:tool b", "has:tool")).toBe("a b");
    expect(without("xtag:a tag:a", "tag:a")).toBe("xtag:a");
    expect(without('"or tag:a" has:tool tag:a has:tool', "has:tool")).toBe('"or tag:a" tag:a');
  });
  it("say the same once", () => {
    const found = asked("heron has:tool has:tool");
    expect([found.words, found.typed.map(({ raw }) => raw)]).toEqual(["heron", ["has:tool"]]);
  });
  it("count as the last of their kind, and the others are told apart", () => {
    const heeded = (text: string) =>
      asked(text).typed.map(({ raw, isHeeded }) => (isHeeded ? raw : `not ${raw}`));
    expect(asked("x tag:a tag:b").tag).toBe("b");
    expect(heeded("x tag:a tag:b")).toEqual(["not tag:a", "tag:b"]);
    expect(heeded("x tag:a tag:b tag:a")).toEqual(["not tag:b", "tag:a"]);
    expect(heeded("x model:llama has:tool")).toEqual(["model:llama", "has:tool"]);
    expect(heeded("x has:tool author:me")).toEqual(["not has:tool", "author:me"]);
    expect(asked("x has:tool author:me").hasTool).toBe(false);
  });
  it("are none in a phrase", () => {
    const found = asked('heron "seen tag:a after:2026 here" tag:b');
    expect([found.words, found.tag, found.since]).toEqual(['heron "seen tag:a after:2026 here"', "b", ""]);
  });
  it("take a name for a name, whatever it is", () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect([asked(`x author:${name}`).author, asked(`x author:${name}`).speaker]).toEqual([name, ""]);
    }
  });
});
