import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { outbox, refusalOf, standIn, type Sent } from "../../src/state/outbox.svelte";
import { session } from "../../src/state/session.svelte";

interface Asked {
  key: string;
  body: { parentAlternativeId?: string; speaker: string; content?: { text: string }; makeActive?: boolean };
}
/** A server that takes turns, can be away, knows a key again, and refuses it for another body. */
class Server {
  isAway = false;
  refuses: { status: number; code: string } | undefined;
  asked: Asked[] = [];
  made = new Map<string, string>();
  bodies = new Map<string, unknown>();

  fetch = async (_: unknown, init: RequestInit): Promise<Response> => {
    const key = (init.headers as Record<string, string>)["Idempotency-Key"] ?? "";
    const body = JSON.parse(String(init.body)) as Asked["body"];
    if (this.isAway) throw new TypeError("Failed to fetch");
    this.asked.push({ key, body });
    if (this.refuses) {
      const { status, code } = this.refuses;
      return Response.json({ error: { code, message: "refused" } }, { status });
    }
    const id = this.made.get(key) ?? `item_${this.made.size + 1}`;
    if (this.made.has(key) && this.bodies.get(key) !== init.body)
      return Response.json(
        { error: { code: "idempotency_payload_mismatch", message: "another body" } },
        { status: 409 },
      );
    this.made.set(key, id);
    this.bodies.set(key, init.body);
    return Response.json(body.speaker === "agent" ? { answers: [] } : { node: { id } });
  };
  get said(): string[] {
    return this.asked.flatMap(({ body }) => (body.content ? [body.content.text] : []));
  }
}
const message = (text: string, more: { parent?: string; conversation?: string } = {}) => ({
  conversation: "c1",
  title: "Herons",
  parent: "root",
  content: { type: "text" as const, text },
  processIds: ["p1"],
  samples: 1,
  ...more,
});
let server: Server;
let heard: Sent["kind"][];
let stop: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  session.account = { user: { id: "user_1" } } as never;
  session.state = "in";
  heard = [];
  stop = outbox.listen(({ kind }) => void (kind !== "changed" && heard.push(kind)));
});
afterEach(() => {
  stop();
  for (const { key } of outbox.list) outbox.withdraw(key);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Storage shared by all tabs of a browser. */
function storage(): Record<string, string> {
  const kept: Record<string, string> = {};
  const way = (value: unknown) => ({ value, enumerable: false });
  return Object.defineProperties(kept, {
    getItem: way((name: string) => kept[name] ?? null),
    setItem: way((name: string, value: string) => (kept[name] = value)),
    removeItem: way((name: string) => delete kept[name]),
  });
}

describe("an outgoing message", () => {
  it("goes out at once, with its answer asked for, and nothing is left", async () => {
    await outbox.say(message("One."));
    await outbox.flush();
    expect(server.asked.map(({ body }) => body.speaker)).toEqual(["user", "agent"]);
    expect(server.asked[1]?.body.parentAlternativeId).toBe("item_1");
    expect(heard).toEqual(["said", "answering"]);
    expect(outbox.list).toEqual([]);
  });
  it("is given back when the server refuses it", async () => {
    server.refuses = { status: 422, code: "rule_violation" };
    await expect(outbox.say(message("One."))).rejects.toMatchObject({ status: 422 });
    expect(outbox.list).toEqual([]);
  });
  it("waits while nobody is there, and goes out in order, each once, answered at the end", async () => {
    server.isAway = true;
    await outbox.say(message("One."));
    const first = outbox.list[0]?.key ?? "";
    await outbox.say(message("Two.", { parent: standIn(first) }));
    await outbox.say(message("Elsewhere.", { conversation: "c2" }));
    expect(outbox.list.map(({ content }) => (content as { text: string }).text)).toEqual([
      "One.",
      "Two.",
      "Elsewhere.",
    ]);
    server.isAway = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(server.said).toEqual(["One.", "Two.", "Elsewhere."]);
    expect(server.asked.map(({ body }) => body.parentAlternativeId)).toEqual([
      "root",
      "item_1",
      "item_2",
      "root",
      "item_4",
    ]);
    expect(outbox.list).toEqual([]);
  });
  it("bears its name at every try", async () => {
    let drop = true;
    vi.stubGlobal("fetch", async (url: unknown, init: RequestInit) => {
      const answer = await server.fetch(url, init);
      // It arrived, and nobody heard of it.
      if (drop) throw new TypeError("Failed to fetch");
      return answer;
    });
    await outbox.say(message("One."));
    expect(server.said).toEqual(["One."]);
    drop = false;
    await outbox.flush();
    expect(server.said).toEqual(["One.", "One."]);
    expect(new Set(server.asked.filter(({ body }) => body.content).map(({ key }) => key)).size).toBe(1);
    expect(server.made.size).toBe(2);
  });
  it("stays with the reason when it is refused later, and holds back what follows it, nothing else", async () => {
    server.isAway = true;
    await outbox.say(message("One."));
    const [one] = outbox.list;
    await outbox.say(message("Two.", { parent: standIn(one?.key ?? "") }));
    await outbox.say(message("Another branch.", { parent: "item_9" }));
    await outbox.say(message("Elsewhere.", { conversation: "c2" }));
    server.isAway = false;
    vi.stubGlobal("fetch", async (url: unknown, init: RequestInit) => {
      server.refuses = String(init.body).includes("One.") ? { status: 409, code: "folded" } : undefined;
      return server.fetch(url, init);
    });
    await outbox.flush();
    expect(server.said).toEqual(["One.", "Another branch.", "Elsewhere."]);
    expect(outbox.list.map((entry) => refusalOf(entry)?.code)).toEqual(["folded", undefined]);
    // Taken back, it no longer holds anything up.
    outbox.withdraw(one?.key ?? "");
    vi.stubGlobal("fetch", server.fetch);
    server.refuses = undefined;
    await outbox.flush();
    expect(server.said).toEqual(["One.", "Another branch.", "Elsewhere.", "Two."]);
  });
  it("does not move the path after its writer has left its branch, though it was tried before", async () => {
    server.isAway = true;
    await outbox.say(message("One."));
    await outbox.say(message("Two.", { parent: "item_9" }));
    outbox.follow("c1", new Set(["root", standIn(outbox.list[1]?.key ?? "")]));
    server.isAway = false;
    await outbox.flush();
    expect(server.asked.map(({ body }) => [body.content?.text ?? "answer", body.makeActive])).toEqual([
      ["One.", false],
      ["answer", false],
      ["Two.", true],
      ["answer", true],
    ]);
  });
  it("is repeated as it arrived if its writer left its branch before they heard of it", async () => {
    let drop = true;
    vi.stubGlobal("fetch", async (url: unknown, init: RequestInit) => {
      const answer = await server.fetch(url, init);
      if (drop) throw new TypeError("Failed to fetch");
      return answer;
    });
    await outbox.say(message("One."));
    outbox.follow("c1", new Set(["root"]));
    drop = false;
    await outbox.flush();
    const said = server.asked.filter(({ body }) => body.content);
    expect(said.map(({ body }) => body.makeActive)).toEqual([true, false, true]);
    expect(server.made.size).toBe(2);
    expect(server.asked.at(-1)?.body).toMatchObject({ speaker: "agent", makeActive: false });
    expect([heard, outbox.list]).toEqual([["said", "answering"], []]);
  });
  it("goes on from where it stood when what it follows is taken back", async () => {
    server.isAway = true;
    await outbox.say(message("One."));
    const first = outbox.list[0]?.key ?? "";
    await outbox.say(message("Two.", { parent: standIn(first) }));
    expect(outbox.withdraw(first)?.content).toEqual({ type: "text", text: "One." });
    expect(outbox.list.map(({ parent }) => parent)).toEqual(["root"]);
  });
  it("is sent for whoever wrote it alone", async () => {
    server.isAway = true;
    await outbox.say(message("One."));
    server.isAway = false;
    session.account = { user: { id: "user_2" } } as never;
    expect(outbox.list).toEqual([]);
    await outbox.flush();
    expect(server.said).toEqual([]);
    session.account = { user: { id: "user_1" } } as never;
    expect(outbox.list).toHaveLength(1);
  });
  it("stays where it is while nobody is signed in, or somebody else is in another tab", async () => {
    const kept = storage();
    vi.stubGlobal("localStorage", kept);
    server.isAway = true;
    await outbox.say(message("One."));
    server.isAway = false;
    session.state = "out";
    await outbox.flush();
    session.state = "in";
    kept["skein.user"] = JSON.stringify("user_2");
    await outbox.flush();
    expect(server.said).toEqual([]);
    kept["skein.user"] = JSON.stringify("user_1");
    await outbox.flush();
    expect(server.said).toEqual(["One."]);
    expect(Object.keys(kept)).toEqual(["skein.user"]);
  });
  it("is not undone by what another tab writes at the same time, and is sent in the order it was written", async () => {
    const kept = storage();
    vi.stubGlobal("localStorage", kept);
    server.isAway = true;
    await outbox.say(message("Two."));
    const [two] = outbox.list;
    const one = { ...two, ...message("One."), key: "other", answerKey: "others", at: (two?.at ?? 0) - 1 };
    kept["skein.outbox/other"] = JSON.stringify(one);
    await outbox.say(message("Three."));
    server.isAway = false;
    await outbox.flush();
    expect(server.said).toEqual(["One.", "Two.", "Three."]);
    expect(Object.keys(kept)).toEqual([]);
  });
  it("no longer calls the server away once another tab has sent it", async () => {
    const kept = storage();
    vi.stubGlobal("localStorage", kept);
    server.isAway = true;
    await outbox.say(message("One."));
    expect(outbox.isAway).toBe(true);
    for (const name of Object.keys(kept)) delete kept[name];
    await vi.advanceTimersByTimeAsync(5_000);
    expect([outbox.isAway, outbox.list, server.said]).toEqual([false, [], []]);
  });
});
