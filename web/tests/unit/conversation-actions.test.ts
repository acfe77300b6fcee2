import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Conversation } from "../../src/state/conversation.svelte";
import { outbox } from "../../src/state/outbox.svelte";
import { session } from "../../src/state/session.svelte";
import { activateNode, sendMessage } from "../../src/state/conversationActions";

/** A server that answers changes when it is told to. */
class Slow {
  asked: string[] = [];
  #waiting: ((status: number) => void)[] = [];

  fetch = (url: unknown, { method }: RequestInit): Promise<Response> => {
    if (method === "GET") return Promise.resolve(Response.json({ data: [], pagination: {} }));
    const what = String(url).endsWith("/activate") ? "went" : "said";
    this.asked.push(what);
    const node = { id: "item_said", conversationId: "c1", status: "complete", createdAt: "2026-11-16" };
    return new Promise((resolve) =>
      this.#waiting.push((status) =>
        resolve(
          status < 400
            ? Response.json(what === "said" ? { node } : {})
            : Response.json({ error: { code: "folded", message: "refused" } }, { status }),
        ),
      ),
    );
  };
  /** Answers what was asked longest ago. */
  async answer(status = 200): Promise<void> {
    this.#waiting.shift()?.(status);
    await settled();
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve));
const words = { type: "text" as const, text: "One." };
let server: Slow;
let conversation: Conversation;
beforeEach(() => {
  server = new Slow();
  vi.stubGlobal("fetch", server.fetch);
  session.account = { user: { id: "user_1" } } as never;
  session.state = "in";
  conversation = new Conversation("c1");
  for (const [ordinal, id] of ["item_a", "item_b"].entries())
    conversation.tree.add({
      id,
      parent: undefined,
      turn: "turn_1",
      ordinal,
      author: "human",
      status: "complete",
      bookmarked: false,
      pruned: false,
      excluded: false,
      createdAt: 0,
    });
});
afterEach(() => {
  for (const { key } of outbox.list) outbox.withdraw(key);
  vi.unstubAllGlobals();
});

describe("a message", () => {
  it("comes after the ways that somebody went before, and before those they go afterwards", async () => {
    const there = activateNode(conversation, "item_a");
    const said = sendMessage(conversation, "item_a", words, [], 1, "draft");
    const back = activateNode(conversation, "item_b");
    expect(outbox.of("c1")).toHaveLength(1);
    await settled();
    expect(server.asked).toEqual(["went"]);
    // Nor does anybody else send it meanwhile.
    await outbox.flush();
    expect(server.asked).toEqual(["went"]);
    await server.answer();
    await there;
    expect(server.asked).toEqual(["went", "said"]);
    await server.answer();
    await said;
    await settled();
    expect(server.asked).toEqual(["went", "said", "went"]);
    await server.answer();
    await back;
    expect(conversation.cursor).toBe("item_b");
  });
  it("is sent when the way before is refused", async () => {
    const there = activateNode(conversation, "item_a");
    const said = sendMessage(conversation, "item_a", words, [], 1, "draft");
    await settled();
    await server.answer(409);
    await there;
    expect(server.asked).toEqual(["went", "said"]);
    await server.answer();
    await said;
    expect(outbox.list).toEqual([]);
  });
  it("can be taken back while it waits for its turn", async () => {
    const there = activateNode(conversation, "item_a");
    const said = sendMessage(conversation, "item_a", words, [], 1, "draft");
    outbox.withdraw(outbox.of("c1")[0]?.key ?? "");
    await settled();
    await server.answer();
    await Promise.all([there, said]);
    expect(server.asked).toEqual(["went"]);
  });
});
