import { describe, expect, it } from "vitest";
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
