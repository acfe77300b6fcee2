// The log of what was done to conversations: facts of the timeline, and what this tab did besides. Taking back is a new entry.
import { call } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { allDone } from "./acts";
import { Newest } from "./newest";
import {
  entryOf,
  isAboutTheSame,
  reverseOf,
  undoable,
  type Changed,
  type Entry,
  type Moved,
} from "./operations";

/** How many facts of each kind are read. */
const READ_MAX = 100;
const FACTS = ["NodeMarked", "EntityDelta"];

class Operations {
  /** Newest first. */
  entries = $state.raw<Entry[]>([]);
  loaded = $state(false);
  problem = $state.raw<Problem>();
  busy = $state<string>();
  /** What was taken back in this tab, and what took it back. */
  settled = $state.raw<ReadonlySet<string>>(new Set());
  #moves: Moved[] = [];
  #newest = new Newest();
  #undoing: Promise<Entry | undefined> = Promise.resolve(undefined);

  get undoable(): Set<string> {
    return undoable(this.entries, this.settled);
  }

  /** This tab turned to another branch. */
  moved(conversation: string, from: string, to: string, at = Date.now()): void {
    const entry: Moved = { kind: "moved", id: crypto.randomUUID(), at, conversation, from, to };
    this.#moves = [entry, ...this.#moves].slice(0, READ_MAX);
    if (this.loaded) this.entries = [entry, ...this.entries].sort((one, other) => other.at - one.at);
  }

  async load(): Promise<void> {
    const isNewest = this.#newest.ask();
    await allDone();
    try {
      const read = await this.#read();
      if (!isNewest()) return;
      this.entries = read;
      this.loaded = true;
      this.problem = undefined;
    } catch (error) {
      if (isNewest()) this.problem = asProblem(error);
    }
  }
  async #read(): Promise<Entry[]> {
    const pages = await Promise.all(
      FACTS.map((type) => call("get", "/api/v1/items", { query: { type, order: "desc", limit: READ_MAX } })),
    );
    const facts = pages.flatMap(({ data }) => data.map(entryOf)).filter((entry) => entry !== undefined);
    return [...facts, ...this.#moves].sort((one, other) => other.at - one.at);
  }

  /** Takes back what was done last since the tab was opened; says what that was. Older acts are picked from the list. */
  undoLast(): Promise<Entry | undefined> {
    // Pressed twice it takes back two acts, one after the other.
    return (this.#undoing = this.#undoing.then(() => this.#undoLast()));
  }
  async #undoLast(): Promise<Entry | undefined> {
    await this.load();
    // What was read earlier may not be the last any more.
    if (this.problem) return undefined;
    const last = this.entries.find(({ id, at }) => at >= performance.timeOrigin && this.undoable.has(id));
    return last && (await this.undo(last)) ? last : undefined;
  }

  async undo(entry: Entry): Promise<boolean> {
    this.busy = entry.id;
    this.problem = undefined;
    const known = new Set(this.entries.map(({ id }) => id));
    try {
      await this.#reverse(entry);
      const reverse = (await this.#read()).filter((one) => !known.has(one.id) && isAboutTheSame(one, entry));
      this.settled = new Set([...this.settled, entry.id, ...reverse.map(({ id }) => id)]);
      await this.load();
      return true;
    } catch (error) {
      this.problem = asProblem(error);
      return false;
    } finally {
      this.busy = undefined;
    }
  }

  async #reverse(entry: Entry): Promise<void> {
    if (entry.kind === "marked") {
      const before = this.entries.slice(this.entries.indexOf(entry) + 1);
      const body = reverseOf(entry, before);
      await call("put", "/api/v1/nodes/{id}/marks", { params: { id: entry.node }, body });
    } else if (entry.kind === "moved") await this.#moveBack(entry);
    else await this.#changeBack(entry);
  }

  async #moveBack({ conversation, from, to }: Moved): Promise<void> {
    const { turnId } = await call("get", "/api/v1/nodes/{id}", { params: { id: from } });
    await call("put", "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate", {
      params: { id: conversation, turnId: turnId ?? "", nodeId: from },
    });
    this.moved(conversation, to, from);
  }

  async #changeBack({ conversation: id, version }: Changed): Promise<void> {
    const [{ changes }, { hash }] = await Promise.all([
      call("get", "/api/v1/records/{id}/diff", { params: { id }, query: { from: version - 1, to: version } }),
      call("get", "/api/v1/conversations/{id}", { params: { id } }),
    ]);
    const before = Object.fromEntries(changes.map((change) => [change.field, change.before ?? null]));
    await call("put", "/api/v1/conversations/{id}", {
      params: { id },
      body: { ...before, basedOnHash: hash },
    });
  }
}
export const operations = new Operations();
