import { afterEach, describe, expect, it, vi } from "vitest";
import { operations } from "../../src/state/operations.svelte";
import { entryOf, reverseOf, undoable, wordsOf, type Entry, type Marked } from "../../src/state/operations";

const item = (id: string, _type: string, data: unknown) =>
  ({ id, _type, data, realizedAt: "2026-11-15T09:30:00.000Z" }) as never;
const marked = (id: string, node: string, more: Partial<Marked>): Marked => ({
  kind: "marked",
  id,
  at: 0,
  node,
  tagged: [],
  untagged: [],
  ...more,
});

describe("what was done", () => {
  it("is read off facts, and told in words", () => {
    const told = [
      item("1", "NodeMarked", { nodeId: "n", bookmarked: true, tagged: ["heron"] }),
      item("2", "NodeMarked", { nodeId: "n", pruned: false, excluded: true }),
      item("3", "EntityDelta", {
        entityType: "Conversation",
        entityId: "c",
        version: 2,
        document: { data: { title: "Herons", status: "archived" } },
      }),
    ].map(entryOf);
    expect(told.map((entry) => entry && wordsOf(entry))).toEqual([
      "Bookmarked, Tagged “heron”",
      "Brought back, Left out of the context",
      "Archived the conversation",
    ]);
  });
  it("is not what made a thing, nor what other things went through, nor what was destroyed", () => {
    const first = { entityType: "Conversation", entityId: "c", version: 1 };
    expect(entryOf(item("1", "EntityDelta", first))).toBeUndefined();
    expect(entryOf(item("2", "EntityDelta", { ...first, entityType: "Tool", version: 4 }))).toBeUndefined();
    expect(entryOf(item("3", "NodeMarked", null))).toBeUndefined();
  });
});

describe("taking back", () => {
  it("does the reverse, and brings a label back with its bookmark", () => {
    const off = marked("2", "n", { bookmarked: false, untagged: ["heron"], excluded: true });
    const on = marked("1", "n", { bookmarked: true, label: "the count" });
    expect(reverseOf(off, [on])).toEqual({
      bookmarked: true,
      excluded: false,
      label: "the count",
      tag: ["heron"],
      untag: [],
    });
    expect(reverseOf(on, [])).toEqual({ bookmarked: false, tag: [], untag: [] });
  });
  it("is offered where nothing later is about the same", () => {
    const entries: Entry[] = [
      marked("4", "n", { bookmarked: false }),
      marked("3", "n", { tagged: ["heron"] }),
      { kind: "moved", id: "2", at: 0, conversation: "c", from: "a", to: "b" },
      marked("1", "n", { bookmarked: true }),
      { kind: "moved", id: "0", at: 0, conversation: "c", from: "b", to: "a" },
    ];
    expect([...undoable(entries, new Set())]).toEqual(["4", "3", "2"]);
    // What was taken back, with what took it back, lets one go on further back.
    expect([...undoable(entries, new Set(["4", "2"]))]).toEqual(["3", "1", "0"]);
  });
});

describe("the key that takes back", () => {
  afterEach(() => vi.unstubAllGlobals());
  /** A server with two facts, which tells of what takes them back, and can fail. */
  function server() {
    const at = new Date(Date.now() + 1000).toISOString();
    const fact = (id: string, nodeId: string, bookmarked: boolean) => ({
      id,
      _type: "NodeMarked",
      realizedAt: at,
      data: { nodeId, bookmarked },
    });
    const state = {
      facts: [fact("f2", "n2", true), fact("f1", "n1", true)],
      put: [] as string[],
      fails: false,
    };
    vi.stubGlobal("fetch", async (url: string, { method }: RequestInit) => {
      if (method === "PUT") {
        const node = /nodes\/(\w+)\//.exec(url)?.[1] ?? "";
        state.put.push(node);
        state.facts.unshift(fact(`r-${node}`, node, false));
        return Response.json({});
      }
      if (state.fails) return Response.json({ error: { code: "internal", message: "no" } }, { status: 500 });
      return Response.json({ data: url.includes("NodeMarked") ? [...state.facts] : [], pagination: {} });
    });
    return state;
  }
  it("takes back two acts when it is pressed twice at once, and nothing when what was done cannot be read", async () => {
    const state = server();
    await operations.load();
    state.fails = true;
    expect(await operations.undoLast()).toBeUndefined();
    expect(state.put).toEqual([]);
    state.fails = false;
    const both = await Promise.all([operations.undoLast(), operations.undoLast()]);
    expect(both.map((entry) => entry?.id)).toEqual(["f2", "f1"]);
    expect(state.put).toEqual(["n2", "n1"]);
  });
});
