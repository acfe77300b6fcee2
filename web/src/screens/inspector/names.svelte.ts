// Caches the names of processes, actors and conversations.
import { all, call, type Schemas } from "../../api/client";
import { onServerEvent } from "../../api/events";

type Process = Schemas["ProcessView"];
type Conversation = Schemas["ConversationView"];

class Names {
  #processes = $state.raw<ReadonlyMap<string, Process>>(new Map());
  #actors = $state.raw<ReadonlyMap<string, string>>(new Map());
  #conversations = $state.raw<ReadonlyMap<string, Conversation>>(new Map());
  #asked = false;
  #asking = new Set<string>();

  /** Begins to read names; what is drawn with them is drawn again when they are there. */
  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    void this.#read();
    onServerEvent(({ event, subject }) => {
      if (event.startsWith("process.") || event.startsWith("actor.")) void this.#read();
      if (event.startsWith("conversation.") && this.#conversations.has(subject)) void this.#title(subject);
    });
  }

  process(id: string): string {
    return this.#processes.get(id)?.name ?? "a process";
  }
  /** Name of the author. */
  author(node: { authorId: string; authorType: string; executedBy?: { processId: string } | null }): string {
    if (node.authorType === "human") return "You";
    if (node.executedBy) return this.process(node.executedBy.processId);
    return this.#actors.get(node.authorId) ?? (node.authorType === "model" ? "Model" : "System");
  }
  conversation(id: string): Conversation | undefined {
    const known = this.#conversations.get(id);
    if (!known && !this.#asking.has(id)) {
      this.#asking.add(id);
      void this.#title(id);
    }
    return known;
  }
  title(id: string): string {
    return this.conversation(id)?.title || "Untitled conversation";
  }

  async #read(): Promise<void> {
    try {
      const [processes, actors] = await Promise.all([
        all((cursor) => call("get", "/api/v1/processes", { query: { cursor, includeArchived: true } })),
        all((cursor) => call("get", "/api/v1/actors", { query: { cursor } })),
      ]);
      this.#processes = new Map(processes.map((one) => [one.id, one]));
      this.#actors = new Map(actors.map((one) => [one.id, one.name]));
    } catch {
      this.#asked = false;
    }
  }
  async #title(id: string): Promise<void> {
    try {
      const found = await call("get", "/api/v1/conversations/{id}", { params: { id } });
      this.#conversations = new Map(this.#conversations).set(id, found);
    } catch {
      this.#asking.delete(id);
    }
  }
}
export const names = new Names();
