// The log of what was done: facts of the timeline, and what this tab did besides. Taking back is a new entry.
import { call } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { allDone } from "./pendingActs";
import { LatestRequest } from "./latestRequest";
import {
  entryOf,
  isAboutTheSame,
  isTakenBackByKey,
  undoable,
  type Entry,
  type BranchMove,
} from "./operations";
import { isAfter } from "./eventPosition";
import { session } from "./session.svelte";
import { moveBack, reverse } from "./undoing";

/** Items per page and kind, maximum number of pages, and the number of actions that suffices. */
const READ_MAX = 100;
const PAGES_MAX = 5;
const FOUND_MIN = 50;
const FACTS = ["NodeMarked", "EntityDelta", "RelationRemoved", "SystemEvent"];

/** Most facts are no acts of this kind: it is read on until there are some, not for ever. */
async function readOf(type: string): Promise<Entry[]> {
  const me = session.account?.user.id;
  const isMine = (entry: Entry) => entry.kind !== "recorded" || !me || entry.author === me;
  const found: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && found.length < FOUND_MIN; page += 1) {
    const query = { type, order: "desc" as const, limit: READ_MAX, cursor };
    const { data, pagination } = await call("get", "/api/v1/items", { query });
    const acts = data.map(entryOf).filter((entry) => entry !== undefined);
    found.push(...acts.filter(isMine));
    cursor = pagination.next ?? undefined;
    if (!cursor) break;
  }
  return found;
}

const newestFirst = (entries: Entry[]): Entry[] =>
  entries.sort((one, other) => (isAfter(one.place, other.place) ? -1 : 1));

class Operations {
  /** Newest first. */
  entries = $state.raw<Entry[]>([]);
  loaded = $state(false);
  problem = $state.raw<Problem>();
  /** Error of the last undo. */
  refusal = $state.raw<Problem>();
  busy = $state<string>();
  /** Actions undone in this tab, and their undo actions. */
  settled = $state.raw<ReadonlySet<string>>(new Set());
  #moves: BranchMove[] = [];
  /** Actions whose undo failed: the key continues with the action before. */
  #failed = new Set<string>();
  #newest = new LatestRequest();
  #undoing: Promise<Entry | undefined> = Promise.resolve(undefined);

  get undoable(): Set<string> {
    return undoable(this.entries, this.settled);
  }

  /** This tab turned to another branch. */
  moved(conversation: string, from: string, to: string, place: string): void {
    const act = { id: crypto.randomUUID(), at: Date.now(), place };
    const entry: BranchMove = { kind: "moved", ...act, conversation, from, to };
    this.#moves = [entry, ...this.#moves].slice(0, READ_MAX);
    if (this.loaded) this.entries = newestFirst([entry, ...this.entries]);
  }

  /** Gives what was read, also where somebody asked again meanwhile. */
  async load(): Promise<Entry[]> {
    const isNewest = this.#newest.ask();
    await allDone();
    try {
      const read = await this.#read();
      if (!isNewest()) return read;
      this.entries = read;
      this.loaded = true;
      this.problem = undefined;
      return read;
    } catch (error) {
      if (isNewest()) this.problem = asProblem(error);
      return [];
    }
  }
  async #read(): Promise<Entry[]> {
    const facts = await Promise.all(FACTS.map(readOf));
    return newestFirst([...facts.flat(), ...this.#moves]);
  }

  /** Takes back what was done last since the tab was opened; says what that was. Older acts are picked from the list. */
  undoLast(): Promise<Entry | undefined> {
    // Two presses undo two actions in order.
    return (this.#undoing = this.#undoing.then(() => this.#undoLast()));
  }
  async #undoLast(): Promise<Entry | undefined> {
    this.refusal = undefined;
    await this.load();
    // The last action read earlier may no longer be the last.
    if (this.problem) return undefined;
    const can = this.undoable;
    const last = this.entries.find(
      (entry) =>
        isAfter(entry.place, session.openedAt ?? "0.0") &&
        can.has(entry.id) &&
        isTakenBackByKey(entry) &&
        !this.#failed.has(entry.id),
    );
    return last && (await this.undo(last, true)) ? last : undefined;
  }

  async undo(entry: Entry, byKey = false): Promise<boolean> {
    this.busy = entry.id;
    this.refusal = undefined;
    const known = new Set(this.entries.map(({ id }) => id));
    try {
      const version =
        entry.kind === "moved" ? await this.#turnBack(entry) : await reverse(entry, this.entries, byKey);
      this.#settle(entry.id);
      const read = await this.load();
      const isReverse = (one: Entry) =>
        !known.has(one.id) &&
        isAboutTheSame(one, entry) &&
        // Somebody else may have changed it in the same moment.
        (version === undefined || !("version" in one) || one.version === version);
      this.#settle(...read.filter(isReverse).map(({ id }) => id));
      return true;
    } catch (error) {
      this.refusal = asProblem(error);
      this.#failed.add(entry.id);
      return false;
    } finally {
      this.busy = undefined;
    }
  }
  async #turnBack(entry: BranchMove): Promise<undefined> {
    const place = await moveBack(entry);
    // Only this tab knows the previous position.
    if (place) this.moved(entry.conversation, entry.to, entry.from, place);
  }
  #settle(...ids: string[]): void {
    this.settled = new Set([...this.settled, ...ids]);
  }
}
export const operations = new Operations();
