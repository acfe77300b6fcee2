import { afterEach, describe, expect, it, vi } from "vitest";
import { operations } from "../../src/state/operations.svelte";
import {
  entryOf,
  lastingBecause,
  reverseOf,
  undoable,
  wordsOf,
  type Entry,
  type MarksChange,
  type BranchMove,
} from "../../src/state/operations";
import { reverse } from "../../src/state/undoing";

const item = (id: string, _type: string, data: unknown) =>
  ({ id, _type, data, cursor: "1.0", realizedAt: "2026-11-15T09:30:00.000Z" }) as never;
const marked = (id: string, node: string, more: Partial<MarksChange>): MarksChange => ({
  kind: "marked",
  id,
  at: 0,
  place: "1.0",
  node,
  tagged: [],
  untagged: [],
  ...more,
});

describe("an action", () => {
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
      "Restored, Excluded from context",
      "Archived the conversation",
    ]);
  });
  it("is not what made a thing, nor what other things went through, nor what was destroyed", () => {
    const first = { entityType: "Conversation", entityId: "c", version: 1 };
    expect(entryOf(item("1", "EntityDelta", first))).toBeUndefined();
    expect(entryOf(item("2", "EntityDelta", { ...first, entityType: "Tool" }))).toBeUndefined();
    expect(entryOf(item("4", "EntityDelta", { ...first, entityType: "User", version: 4 }))).toBeUndefined();
    expect(entryOf(item("5", "SystemEvent", { event: "tool.used", subject: "t" }))).toBeUndefined();
    expect(entryOf(item("3", "NodeMarked", null))).toBeUndefined();
  });
});

describe("actions in the catalog and in settings", () => {
  const delta = (entityType: string, act?: string) =>
    item(entityType, "EntityDelta", { entityType, entityId: "e", version: 3, commit: "h", act });
  const event = (event: string, more: object) => item(event, "SystemEvent", { event, subject: "s", ...more });
  const words = (fact: never) => {
    const entry = entryOf(fact);
    return entry && [wordsOf(entry), undoable([entry], new Set()).size > 0];
  };
  it("is told in words, with the way back where there is one", () => {
    expect(
      [
        delta("Tool", "deleted"),
        delta("Process", "archived"),
        delta("ToolTemplate", "archived"),
        delta("Service"),
        delta("StandingApproval", "deleted"),
        delta("Secret"),
        event("setting.changed", { before: 7, value: 14 }),
        event("endpoint.refused", { endpoint: "[::1]:80" }),
        item("r", "RelationRemoved", { relationId: "r", kind: "linked_with", source: "a", target: "b" }),
      ].map(words),
    ).toEqual([
      ["Deleted the tool", true],
      ["Deleted the process", true],
      ["Archived the tool template", true],
      ["Changed the service", true],
      ["Revoked a standing approval", true],
      ["Changed the secret", true],
      ["Changed a setting", true],
      ["Revoked [::1]:80", true],
      ["Removed a link", true],
    ]);
  });
  it("says what nobody can take back", () => {
    const final = [
      delta("Secret", "deleted"),
      delta("Secret", "rotated"),
      event("key.revoked", {}),
      event("setting.changed", { value: 14 }),
      item("r", "RelationRemoved", { relationId: "r" }),
    ];
    expect(final.map(words).map((told) => told?.[1])).toEqual([false, false, false, false, false]);
    expect(final.every((fact) => lastingBecause(entryOf(fact) as Entry))).toBe(true);
  });
});

describe("the reverse", () => {
  afterEach(() => vi.unstubAllGlobals());
  /** Requests of an undo, against a server with constant responses. */
  async function sent(fact: never, answer: unknown = {}, later: never[] = []) {
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (url: string, { method, body }: RequestInit) => {
      if (method !== "GET") requests.push(`${method} ${url.replace("/api/v1", "")} ${String(body ?? "")}`);
      return Response.json(typeof answer === "function" ? (answer(url) as unknown) : answer);
    });
    const entry = entryOf(fact) as Exclude<Entry, BranchMove>;
    await reverse(entry, [...later.map((one) => entryOf(one) as Entry), entry]);
    return requests;
  }
  const delta = (entityType: string, act?: string) =>
    item("d", "EntityDelta", { entityType, entityId: "e", version: 3, commit: "h", act });
  it("takes up the version before, on what there was after the act", async () => {
    const restored = ['POST /records/e/restore {"version":2,"basedOnHash":"h"}'];
    expect(await sent(delta("Tool", "deleted"), { data: { name: "Level" } })).toEqual(restored);
    const changes = { data: {}, changes: [{ field: "name", before: "Level" }] };
    expect(await sent(delta("Tool"), changes)).toEqual(restored);
    // The undo of later actions created versions of its own.
    const fact = { entityType: "Tool", entityId: "e", version: 5, commit: "h5", act: "restored" };
    expect(await sent(delta("Tool"), changes, [item("l", "EntityDelta", fact)])).toEqual([
      'POST /records/e/restore {"version":2,"basedOnHash":"h5"}',
    ]);
  });
  it("shares, and changes what people change, by the acts made for it", async () => {
    const shared = { data: {}, changes: [{ field: "shared", before: true }], hash: "h" };
    expect(await sent(delta("Tool"), shared)).toEqual(['PUT /tools/e/share {"shared":true}']);
    await expect(sent(delta("Tool"), { ...shared, hash: "other" })).rejects.toThrow("changed it meanwhile");
    await expect(sent(delta("Secret"), shared)).rejects.toThrow("on its own screen");
    const named = { changes: [{ field: "name", before: "Key" }], hash: "now" };
    expect(await sent(delta("Secret"), named)).toEqual(['PUT /secrets/e {"name":"Key","basedOnHash":"h"}']);
  });
  it("deletes again what had been deleted before it was restored", async () => {
    expect(await sent(delta("Tool", "restored"), { data: { deletedAt: "t" }, hash: "h" })).toEqual([
      "DELETE /tools/e ",
    ]);
    expect(await sent(delta("Process", "restored"), { data: { archived: true }, hash: "h" })).toEqual([
      "DELETE /processes/e ",
    ]);
  });
  it("binds, allows, sets and links again", async () => {
    const bound = { toolId: "t", secretId: "s" };
    const none = { data: [], pagination: {} };
    const binding = delta("SecretBinding", "deleted");
    const records = (list: unknown) => (url: string) => (url.includes("type=") ? list : { data: bound });
    expect(await sent(binding, records(none))).toEqual(['PUT /tools/t/secret {"secretId":"s"}']);
    const other = { data: [{ id: "o", data: { toolId: "t" } }], pagination: {} };
    await expect(sent(binding, records(other))).rejects.toThrow("Another of your secrets");
    const refused = item("x", "SystemEvent", { event: "endpoint.refused", endpoint: "[::1]:80" });
    expect(await sent(refused)).toEqual(['POST /allowed-endpoints {"host":"::1","port":80}']);
    const set = item("x", "SystemEvent", { event: "setting.changed", subject: "days", before: 7, value: 14 });
    expect(await sent(set, { value: 14, hash: "h" })).toEqual([
      'PUT /settings/days {"value":7,"basedOnHash":"h"}',
    ]);
    await expect(sent(set, { value: 30, hash: "h" })).rejects.toThrow("Someone changed the setting");
    const was = { kind: "linked_with", source: "a", target: "b", targetType: "log" };
    const link = item("x", "RelationRemoved", { relationId: "r", reason: "no", ...was });
    expect(await sent(link, none)).toEqual([`POST /relations ${JSON.stringify(was)}`]);
    const there = { data: [{ target: "b" }], pagination: {} };
    await expect(sent(link, there)).rejects.toThrow("already exists again");
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
      { kind: "moved", id: "2", at: 0, place: "1.0", conversation: "c", from: "a", to: "b" },
      marked("1", "n", { bookmarked: true }),
      { kind: "moved", id: "0", at: 0, place: "1.0", conversation: "c", from: "b", to: "a" },
    ];
    expect([...undoable(entries, new Set())]).toEqual(["4", "3", "2"]);
    // Undone actions and their undo let the key continue further back.
    expect([...undoable(entries, new Set(["4", "2"]))]).toEqual(["3", "1", "0"]);
  });
});

describe("the key that takes back", () => {
  afterEach(() => vi.unstubAllGlobals());
  /** A server with two facts, which tells of what takes them back, and can fail. */
  function server() {
    let change = 0;
    // Its clock goes wrong: what comes later is dated earlier.
    const fact = (id: string, nodeId: string, bookmarked: boolean) => ({
      id,
      _type: "NodeMarked",
      realizedAt: new Date(Date.UTC(2026, 0) - (change += 1) * 1000).toISOString(),
      cursor: `${100 + change}.0`,
      data: { nodeId, bookmarked },
    });
    const first = fact("f1", "n1", true);
    const state = { facts: [fact("f2", "n2", true), first], put: [] as string[], fails: false };
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
  it("goes on past what cannot be taken back, and leaves what is everybody's to the list", async () => {
    const at = new Date(Date.now() + 2000).toISOString();
    const facts = [
      { id: "s", _type: "SystemEvent", cursor: "9.2", data: { event: "endpoint.refused", endpoint: "a:1" } },
      { id: "bad", _type: "NodeMarked", cursor: "9.1", data: { nodeId: "bad", pruned: true } },
      { id: "good", _type: "NodeMarked", cursor: "9.0", data: { nodeId: "good", pruned: true } },
    ].map((fact) => ({ ...fact, realizedAt: at }));
    vi.stubGlobal("fetch", async (url: string, { method }: RequestInit) => {
      if (url.includes("/nodes/bad/"))
        return Response.json({ error: { code: "rule_violation", message: "no" } }, { status: 422 });
      if (method === "PUT") return Response.json({});
      return Response.json({ data: facts.filter(({ _type }) => url.includes(_type)), pagination: {} });
    });
    expect(await operations.undoLast()).toBeUndefined();
    expect((await operations.undoLast())?.id).toBe("good");
    expect(await operations.undoLast()).toBeUndefined();
  });
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
