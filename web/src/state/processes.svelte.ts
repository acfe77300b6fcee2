// The processes that can answer, by name: for pickers and for who said what.
import { all, call, type Schemas } from "../api/client";
import { onTold } from "../api/events";
import { Newest } from "./newest";

/** What a run is given when it answers in a conversation. */
const GIVEN = ["conversationId", "nodeId", "message"];

function isAnswerable(context: unknown): boolean {
  const needed = Array.isArray(context) ? context : (context as { required?: string[] } | null)?.required;
  return (needed ?? []).every((name) => GIVEN.includes(String(name)));
}

class Processes {
  list = $state.raw<Schemas["ProcessView"][]>([]);
  loaded = $state(false);
  /** Why they are not known yet. */
  problem = $state.raw<unknown>();
  #started = false;
  #newest = new Newest();

  /** Those that can be asked to answer: switched on, not put away, and content with a conversation. Oldest first. */
  get usable(): Schemas["ProcessView"][] {
    return this.list
      .filter(({ enabled, archived, initialContext }) => enabled && !archived && isAnswerable(initialContext))
      .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.name.localeCompare(b.name));
  }
  /** Who answers when nobody was chosen: the plainest. */
  get first(): Schemas["ProcessView"] | undefined {
    return this.usable.find(({ name }) => name === "Chat") ?? this.usable[0];
  }
  nameOf(id: string | undefined): string {
    return this.list.find((process) => process.id === id)?.name ?? "a process";
  }
  start(): void {
    if (!this.#started) onTold(({ event }) => void (event.startsWith("process.") && this.refresh()));
    this.#started = true;
    void this.refresh();
  }
  async refresh(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const list = await all((cursor) =>
        call("get", "/api/v1/processes", { query: { includeArchived: true, cursor } }),
      );
      if (!isNewest()) return;
      this.list = list;
      this.loaded = true;
      this.problem = undefined;
    } catch (error) {
      // Pickers show what was known.
      if (isNewest() && !this.loaded) this.problem = error;
    }
  }
}
export const processes = new Processes();
