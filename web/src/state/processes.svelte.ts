// The processes that can answer, by name, and the default among them: for pickers and for who said what.
import { all, call, type Schemas } from "../api/client";
import { onServerEvent } from "../api/events";
import { LatestRequest, coalesce } from "./latestRequest";

/** Inputs of a run that answers in a conversation. */
const GIVEN = ["conversationId", "nodeId", "message"];

function isAnswerable(context: unknown): boolean {
  const needed = Array.isArray(context) ? context : (context as { required?: string[] } | null)?.required;
  return (needed ?? []).every((name) => GIVEN.includes(String(name)));
}

type DefaultProcess = Schemas["DefaultProcessView"];
/** Events after which the default may answer, or no longer answer. */
const ABOUT_DEFAULT = /^(default_process|tool|service|secret)\.(changed|deleted|rotated|call\.failed)$/;

class Processes {
  list = $state.raw<Schemas["ProcessView"][]>([]);
  /** The process that answers in new conversations, as the server resolves it. */
  default = $state.raw<DefaultProcess>();
  loaded = $state(false);
  /** Error of the last read. */
  problem = $state.raw<unknown>();
  #started = false;
  #newest = new LatestRequest();
  #readDefault = coalesce(async () => {
    this.default = await call("get", "/api/v1/account/default-process").catch(() => this.default);
  });

  /** Processes that can answer: enabled, not archived, and runnable with a conversation. Oldest first. */
  get usable(): Schemas["ProcessView"][] {
    return this.list
      .filter(({ enabled, archived, initialContext }) => enabled && !archived && isAnswerable(initialContext))
      .sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.name.localeCompare(b.name));
  }
  /** Process that answers if none was chosen. */
  get first(): Schemas["ProcessView"] | undefined {
    return this.usable.find(({ id }) => id === this.default?.process?.id);
  }
  /** True if the default answers with a connected model. */
  get isConnected(): boolean {
    return Boolean(this.default?.chosen && !this.default.problem);
  }
  nameOf(id: string | undefined): string {
    return this.list.find((process) => process.id === id)?.name ?? "a process";
  }
  start(): void {
    if (!this.#started)
      onServerEvent(({ event }) => {
        if (event.startsWith("process.")) void this.refresh();
        // A call that succeeds ends the trouble of a default that was down.
        else if (ABOUT_DEFAULT.test(event) || (event === "tool.called" && this.default?.problem))
          void this.#readDefault();
      });
    this.#started = true;
    void this.refresh();
  }
  async refresh(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const [list, found] = await Promise.all([
        all((cursor) => call("get", "/api/v1/processes", { query: { includeArchived: true, cursor } })),
        call("get", "/api/v1/account/default-process"),
      ]);
      if (!isNewest()) return;
      this.list = list;
      this.default = found;
      this.loaded = true;
      this.problem = undefined;
    } catch (error) {
      // Pickers show what was known.
      if (isNewest()) this.problem = error;
    }
  }
  /** Chooses who answers in new conversations; nothing is the built-in model. */
  async choose(processId: string | null): Promise<void> {
    this.default = await call("put", "/api/v1/account/default-process", { body: { processId } });
  }
}
export const processes = new Processes();
