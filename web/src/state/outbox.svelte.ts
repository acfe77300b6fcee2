// Outbox of unsent messages: stored in this browser before they are sent, sent in order, each exactly once.
//
// Each message has an idempotency key, so a retry after a lost response is not sent twice. Tabs take turns, so that no
// message overtakes another.
import { call, newKey, type Schemas } from "../api/client";
import { onConnection, onServerEvent } from "../api/events";
import { look } from "../api/look";
import { asProblem, Problem } from "../api/problem";
import type { Content } from "./content";
import { writeStored, readStored, storedNames } from "./browserStorage";
import { session } from "./session.svelte";

type Node = Schemas["NodeView"];
type Answering = Schemas["Mutated_AnsweringView"];

export interface Waiting {
  key: string;
  /** Names the question for an answer, which is sent apart. */
  answerKey: string;
  /** Owner of the message: another person may sign in at the same browser. */
  user: string;
  conversation: string;
  title: string;
  /** Parent: a node, or the stand-in of the message before it. */
  parent: string | undefined;
  content: Content;
  processIds: string[];
  samples: number;
  at: number;
  /** The answer it waits for: it goes out once that is finished. */
  awaits?: string;
  /** True while its writer is on another branch: it does not lead them back. */
  isLeft?: boolean;
  /** The node it became; then only its answer is missing. */
  node?: string;
  refusal?: { status: number; code: string; message: string; rule?: string };
}
export type Sent =
  | { kind: "changed" }
  | { kind: "said"; entry: Waiting; node: Node }
  | { kind: "answering"; entry: Waiting; made: Answering }
  | { kind: "unanswered"; entry: Waiting; node: string; problem: Problem };

/** Each message has a place of its own, so that tabs which write at once do not undo each other. */
const PLACE = "outbox/";
const placeOf = (key: string): string => PLACE + key;
const stored = (): Waiting[] =>
  storedNames(PLACE).flatMap((name) => readStored<Waiting | undefined>(name, undefined) ?? []);
const inOrder = (one: Waiting, other: Waiting): number => one.at - other.at;
const TURNS = "/api/v1/conversations/{id}/turns";
const LOCK = "skein-outbox";
const RETRY_MS = 4_000;
const UNFINISHED = {
  status: 409,
  code: "answer_unfinished",
  message: "The answer did not complete. Try again to send this after your question, or withdraw it.",
};
/** Error of a request whose key the server knows with another body. */
const ARRIVED_OTHERWISE = "idempotency_payload_mismatch";
/** Errors that do not concern the message: it can be sent later unchanged. */
const PASSING = new Set([0, 401, 429, 502, 503, 504]);

/** Id of the stand-in node of a message until the server has it. */
export const standIn = (key: string): string => `local-${key}`;
/** Node under which a message is on the screen. */
export const turnOf = ({ node, key }: Waiting): string => node ?? standIn(key);
export const refusalOf = ({ refusal }: Waiting): Problem | undefined => refusal && new Problem(refusal);

const isPassing = (problem: Problem): boolean =>
  problem.code === "unreachable" || PASSING.has(problem.status);

class Outbox {
  #list = $state.raw<Waiting[]>(stored().sort(inOrder));
  /** True if the last attempt could not reach the server. */
  isAway = $state(false);
  /** Message that is being sent. */
  sending = $state<string>();
  #listeners = new Set<(sent: Sent) => void>();
  /** Callers that wait for the first attempt of a message. */
  #askers = new Map<string, (problem: Problem | undefined) => void>();
  /** Messages that wait for their turn. */
  #behind = new Set<string>();
  #flushing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Messages that could not be stored: only this tab has them. */
  #loose = new Set<string>();

  /** Messages of the signed-in user, in the order in which they were written. */
  get list(): Waiting[] {
    const user = session.account?.user.id;
    return this.#list.filter((entry) => entry.user === user);
  }
  of(conversation: string): Waiting[] {
    return this.list.filter((entry) => entry.conversation === conversation);
  }
  listen(listener: (sent: Sent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): () => void {
    const follow = (event: StorageEvent) => {
      if (event.key === null || event.key.startsWith(`skein.${PLACE}`)) this.#show(this.#newest());
    };
    addEventListener("storage", follow);
    const stops = [
      onConnection((connection) => void (connection === "open" && (this.#lookAtAwaited(), this.flush()))),
      onServerEvent(({ event, subject }) => void (event.startsWith("node.") && this.#lookAtAwaited(subject))),
    ];
    return () => {
      removeEventListener("storage", follow);
      stops.forEach((stop) => stop());
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /**
   * Stores a message and tries to send it when `inTurn` allows it: not before earlier requests of its conversation. Resolves
   * once it is sent or queued; throws if it is refused.
   */
  async say(
    said: Omit<Waiting, "key" | "answerKey" | "user" | "at">,
    inTurn: (send: () => Promise<void>) => Promise<void> = (send) => send(),
  ): Promise<void> {
    if (!session.isOwn)
      throw new Problem({
        status: 401,
        code: "unauthorized",
        message: "This browser is no longer signed in.",
      });
    const user = session.account?.user.id ?? "";
    const at = Math.max(Date.now(), (this.#newest().at(-1)?.at ?? 0) + 1);
    const entry: Waiting = { ...said, key: newKey(), answerKey: newKey(), user, at };
    this.#behind.add(entry.key);
    this.#change((list) => [...list, entry]);
    await new Promise<void>((resolve, reject) => {
      // The answer that is asked for leads there too: what comes after waits for that as well.
      void inTurn(() =>
        this.#sayNow(entry.key)
          .then(resolve, reject)
          .then(() => this.#gone(entry.key)),
      );
    });
  }
  /** Once a message has gone for good, or waits for better times. */
  async #gone(key: string): Promise<void> {
    if (this.#list.some((one) => one.key === key && !one.refusal) && this.#flushing) await this.#flushing;
  }
  async #sayNow(key: string): Promise<void> {
    this.#behind.delete(key);
    // It may have been withdrawn meanwhile.
    if (!this.#list.some((one) => one.key === key)) return;
    const tried = new Promise<Problem | undefined>((resolve) => this.#askers.set(key, resolve));
    void this.flush();
    const problem = await tried;
    if (!problem) return;
    this.withdraw(key);
    throw problem;
  }

  /** Looks whether the answers that messages wait for are finished: one of them, or all. */
  #lookAtAwaited(only?: string): void {
    const awaited = new Set(this.list.flatMap(({ awaits }) => awaits ?? []));
    for (const id of only === undefined ? awaited : awaited.has(only) ? [only] : [])
      void call("get", "/api/v1/nodes/{id}", { params: { id } }).then(
        (node) => this.ended(node),
        // It is looked at again with the next event, or when the server is there again.
        () => undefined,
      );
  }
  /** An answer came to its end. One that did not finish sends nothing silently: the person decides. */
  ended({ id, status, parentAlternativeId }: Node): void {
    if (status === "pending" || !this.list.some(({ awaits }) => awaits === id)) return;
    const more =
      status === "complete" ? {} : { refusal: UNFINISHED, parent: parentAlternativeId ?? undefined };
    this.#change((list) =>
      list.map((one) => (one.awaits === id ? { ...one, awaits: undefined, ...more } : one)),
    );
    void this.flush();
  }

  /** Takes a message back; what was written after it goes on from where it stood. */
  withdraw(key: string): Waiting | undefined {
    const entry = this.#list.find((one) => one.key === key);
    this.#change((list) =>
      list
        .filter((one) => one.key !== key)
        .map((one) => (one.parent === standIn(key) ? { ...one, parent: entry?.parent } : one)),
    );
    return entry;
  }

  /** Tries a message again that was refused. */
  retry(key: string): void {
    this.#put(key, { refusal: undefined });
    void this.flush();
  }

  /** Sends what can be sent, one after the other. */
  flush(): Promise<void> {
    // A tab that views another account sends nothing.
    if (look) return Promise.resolve();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#flushing ??= this.#inTurn(() => this.#sendAll())
      .finally(() => (this.#flushing = undefined))
      // Messages written while the last was being sent.
      .then(() => (this.#timer === undefined && this.#next() ? this.flush() : undefined)));
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const locks = globalThis.navigator?.locks;
    if (locks) await locks.request(LOCK, work);
    else await work();
  }

  async #sendAll(): Promise<void> {
    this.#show(this.#newest());
    for (let entry = this.#next(); entry; entry = this.#next()) {
      this.sending = entry.key;
      const went = await this.#send(entry);
      this.sending = undefined;
      if (!went) break;
    }
    // A message behind a waiting message waits as well.
    for (const key of [...this.#askers.keys()]) this.#answer(key, undefined);
  }

  /**
   * The next message to send: none overtakes a refused or waiting message that it follows, and none is sent in another user's
   * name.
   */
  #next(): Waiting | undefined {
    if (!session.isOwn) return undefined;
    const held = new Set<string>();
    for (const entry of this.list) {
      const isHeld = entry.refusal || entry.awaits || this.#behind.has(entry.key);
      if (!isHeld && !(entry.parent && held.has(entry.parent))) return entry;
      held.add(turnOf(entry));
    }
    return undefined;
  }

  /** Notes which messages of a conversation are on the branch where their writer is. */
  follow(conversation: string, branch: ReadonlySet<string>): void {
    const isLeft = (one: Waiting) => !branch.has(turnOf(one));
    const isWrong = (one: Waiting) =>
      one.conversation === conversation && (one.isLeft ?? false) !== isLeft(one);
    if (this.list.some(isWrong))
      this.#change((list) => list.map((one) => (isWrong(one) ? { ...one, isLeft: isLeft(one) } : one)));
  }
  #isLeft({ key }: Waiting): boolean {
    return this.#list.find((one) => one.key === key)?.isLeft === true;
  }
  /**
   * Sends a request that moves the path, unless the writer has left its branch. If an earlier attempt arrived with the
   * other choice, the server refuses this one; the request is then repeated as it arrived, which moves nothing.
   */
  async #moving<T>(entry: Waiting, send: (makeActive: boolean) => Promise<T>): Promise<T> {
    const makeActive = !this.#isLeft(entry);
    try {
      return await send(makeActive);
    } catch (error) {
      if (asProblem(error).code !== ARRIVED_OTHERWISE) throw error;
      return send(!makeActive);
    }
  }

  /** True if the next message may be sent. */
  async #send(entry: Waiting): Promise<boolean> {
    try {
      const node = entry.node ?? (await this.#saidOf(entry));
      this.isAway = false;
      this.#answer(entry.key, undefined);
      await this.#askForAnswer(entry, node);
      this.#change((list) => list.filter(({ key }) => key !== entry.key));
      return true;
    } catch (error) {
      return this.#failed(entry, asProblem(error));
    }
  }

  async #saidOf(entry: Waiting): Promise<string> {
    const { conversation, parent, content, key } = entry;
    const say = (makeActive: boolean) =>
      call("post", TURNS, {
        params: { id: conversation },
        body: { parentAlternativeId: parent, content: content as never, speaker: "user", makeActive },
        key,
      });
    const { node } = (await this.#moving(entry, say)) as Schemas["Mutated_GrownView"];
    // The screen gets the node before its stand-in is removed. A repeated response names the path of the first attempt.
    this.#tell({ kind: "said", entry, node: { ...node, isActive: node.isActive && !this.#isLeft(entry) } });
    this.#change((list) =>
      list.map((one) =>
        one.key === entry.key
          ? { ...one, node: node.id }
          : one.parent === standIn(entry.key)
            ? { ...one, parent: node.id }
            : one,
      ),
    );
    return node.id;
  }

  /** A person who writes on without waiting for an answer wants one to the last message. */
  async #askForAnswer(entry: Waiting, node: string): Promise<void> {
    const isGoneOnFrom = this.of(entry.conversation).some(({ parent }) => parent === node);
    if (entry.processIds.length === 0 || isGoneOnFrom) return;
    const { conversation, processIds, samples, answerKey } = entry;
    const ask = (makeActive: boolean) =>
      call("post", TURNS, {
        params: { id: conversation },
        body: { parentAlternativeId: node, speaker: "agent", processIds, samples, makeActive },
        key: answerKey,
      });
    try {
      const made = (await this.#moving(entry, ask)) as Answering;
      this.#tell({ kind: "answering", entry, made });
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code === "unreachable" || problem.status === 401) throw problem;
      this.#tell({ kind: "unanswered", entry, node, problem });
    }
  }

  #failed(entry: Waiting, problem: Problem): boolean {
    const isAsked = this.#askers.has(entry.key);
    this.isAway = problem.code === "unreachable";
    if (this.isAway || (!isAsked && isPassing(problem))) {
      this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS);
      return false;
    }
    const { status, code, message, rule } = problem;
    this.#put(entry.key, { refusal: { status, code, message, rule } });
    this.#answer(entry.key, problem);
    return true;
  }

  #answer(key: string, problem: Problem | undefined): void {
    this.#askers.get(key)?.(problem);
    this.#askers.delete(key);
  }
  #put(key: string, more: Partial<Waiting>): void {
    this.#change((list) => list.map((one) => (one.key === key ? { ...one, ...more } : one)));
  }
  #change(change: (list: Waiting[]) => Waiting[]): void {
    const before = this.#newest();
    const after = change(before);
    const staying = new Set(after.map(({ key }) => key));
    for (const { key } of before) if (!staying.has(key)) this.#forget(key);
    for (const entry of after) if (!before.includes(entry)) this.#keep(entry);
    this.#show(after);
  }
  #keep(entry: Waiting): void {
    this.#forget(entry.key);
    if (!writeStored(placeOf(entry.key), entry)) this.#loose.add(entry.key);
  }
  #forget(key: string): void {
    writeStored(placeOf(key), undefined);
    this.#loose.delete(key);
  }
  #show(list: Waiting[]): void {
    this.#list = list;
    // Nothing to retry: another tab sent it, or it was withdrawn.
    if (this.list.length === 0) this.isAway = false;
    this.#tell({ kind: "changed" });
  }
  /** Other tabs may have changed it meanwhile. */
  #newest(): Waiting[] {
    const loose = this.#list.filter(({ key }) => this.#loose.has(key));
    return [...stored(), ...loose].sort(inOrder);
  }
  #tell(sent: Sent): void {
    for (const listener of [...this.#listeners]) listener(sent);
  }
}

export const outbox = new Outbox();
