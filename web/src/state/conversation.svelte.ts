// One open conversation: its shape, the bodies that are in sight, and everything that can be done to it.
//
// The shape arrives once as columns and is kept in step by events; bodies are fetched for nodes on the screen. Actions
// of a person are shown at once and reverted if the server refuses them.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { all, call, type Schemas } from "../api/client";
import { onResync, onServerEvent, type ServerEvent } from "../api/events";
import { asProblem, type Problem } from "../api/problem";
import { answers } from "./liveAnswers.svelte";
import { CANONICAL, canonicalOf } from "./mainBranch";
import { jobs } from "./jobs.svelte";
import { localNode } from "./localNode";
import { Generations } from "./generations.svelte";
import { outbox, standIn, type Sent } from "./outbox.svelte";
import { Tree, type TreeNode, type ShownTurn } from "./tree";
import { BranchMoves } from "./branchMoves";

export type Node = Schemas["NodeView"] & { tags?: string[] };

const BODIES_AT_ONCE = 60;
const INHERITED_MAX = 5_000;
const OWN_EVENTS = /^(node|path|branch|conversation)\./;

const forksOf = (id: string): Promise<Schemas["ConversationView"][]> =>
  all((cursor) => call("get", "/api/v1/conversations/{id}/forks", { params: { id }, query: { cursor } }));

export class Conversation {
  readonly id: string;
  about = $state.raw<Schemas["ConversationView"]>();
  problem = $state.raw<Problem>();
  /** Error of a later read; the conversation works without it. */
  lacking = $state.raw<Problem>();
  loading = $state(true);
  /** Grows with every change of the tree; readers of the tree depend on it. */
  revision = $state(0);
  readonly bodies = new SvelteMap<string, Node>();
  /** Reason why the content of a node is missing. */
  readonly unread = new SvelteMap<string, Problem>();
  /** Turns before this conversation was forked. */
  inherited = $state.raw<Node[]>([]);
  forks = $state.raw<Schemas["ConversationView"][]>([]);
  /** Forks of the conversations this one was forked from. */
  inheritedForks = $state.raw<Schemas["ConversationView"][]>([]);
  /** The main branch is the path through this node. */
  canonical = $state<string>();
  /** Failed action of a node, shown beside the node. */
  readonly problems = new SvelteMap<string, { what: string; problem: Problem; retry: () => void }>();
  readonly busy = new SvelteSet<string>();
  /** Generations of the answers that were in sight. */
  readonly generations = new Generations();
  tree = new Tree();
  /** Grows with every move to another branch; an answer requested before it does not move the path again. */
  moves = 0;
  readonly branchMoves = new BranchMoves();
  #asked = new Set<string>();
  /** Number of requests per node and the last applied response: an earlier request may be answered later. */
  #asks = new Map<string, number>();
  #taken = new Map<string, number>();
  #waiting = new Map<string, ((node: Node | undefined) => void)[]>();
  #stops: (() => void)[] = [];
  #gone = false;

  constructor(id: string) {
    this.id = id;
  }

  async open(): Promise<void> {
    this.#stops = [
      onServerEvent((told) => void this.#told(told)),
      onResync(() => (this.branchMoves.forget(), void this.load())),
      outbox.listen((sent) => this.#sent(sent)),
    ];
    await this.load();
  }

  close(): void {
    this.#gone = true;
    this.#stops.forEach((stop) => stop());
    answers.dropAll();
    this.generations.stop();
    [...this.#waiting.keys()].forEach((id) => this.#settle(id));
  }

  async load(): Promise<void> {
    const { id, moves } = this;
    try {
      const [about, skeleton] = await Promise.all([
        call("get", "/api/v1/conversations/{id}", { params: { id } }),
        call("get", "/api/v1/conversations/{id}/tree", { params: { id } }),
      ]);
      if (this.#gone) return;
      const { visited, cursor } = this.tree;
      this.tree = Tree.of(skeleton, about.mode === "buffer");
      if (this.moves !== moves && cursor && this.tree.treeNodes.has(cursor)) this.tree.cursor = cursor;
      for (const [node, turn] of visited) if (!this.tree.visited.has(node)) this.tree.visited.set(node, turn);
      if (this.tree.cursor) this.tree.turnTo(this.tree.cursor);
      this.about = about;
      this.problem = undefined;
      this.#asked.clear();
      this.#showWaiting();
      this.#changed();
      void this.wantAgain();
      await this.#loadBesides();
    } catch (error) {
      if (this.#gone) return;
      if (this.about) this.lacking = asProblem(error);
      else this.problem = asProblem(error);
    } finally {
      this.loading = false;
    }
  }
  /** Data besides the tree: the conversation works while some of it is missing. */
  async #loadBesides(): Promise<void> {
    const read = await Promise.allSettled([
      this.#loadInherited(),
      this.#loadForks(),
      this.#loadCanonical(),
      this.#followPending(),
    ]);
    const failed = read.find((one) => one.status === "rejected");
    if (!this.#gone) this.lacking = failed && asProblem(failed.reason);
  }

  async #loadInherited(): Promise<void> {
    const { forkOriginAlternativeId: origin, parentConversationId: parent } = this.about ?? {};
    if (!origin || !parent || this.inherited.length > 0) return;
    const found: Node[] = [];
    let cursor: string | undefined;
    do {
      const page = await call("get", "/api/v1/conversations/{id}/path", {
        params: { id: parent },
        query: { nodeId: origin, cursor, limit: 1000 },
      });
      found.unshift(...page.data);
      cursor = page.pagination.next ?? undefined;
    } while (cursor && found.length < INHERITED_MAX);
    this.inherited = found;
    const above = [...new Set(found.map(({ conversationId }) => conversationId))];
    this.inheritedForks = (await Promise.all(above.map(forksOf))).flat();
  }

  async #loadForks(): Promise<void> {
    this.forks = await forksOf(this.id);
  }

  async #loadCanonical(): Promise<void> {
    this.canonical = await canonicalOf(this.id);
  }

  #changed(): void {
    this.revision += 1;
  }

  /** The turns on the screen; `through` names another branch. */
  shown(through?: string): ShownTurn[] {
    void this.revision;
    return this.tree.shown(through);
  }
  treeNode(id: string): TreeNode | undefined {
    void this.revision;
    return this.tree.treeNodes.get(id);
  }
  remarksOf(id: string): string[] {
    void this.revision;
    return this.tree.remarks.get(id) ?? [];
  }
  forksOf(id: string): Schemas["ConversationView"][] {
    return this.forks.filter((fork) => fork.forkOriginAlternativeId === id);
  }
  /** Branches that left a node and were folded; models get their summaries. */
  foldedAt(id: string): Schemas["ConversationView"][] {
    return [...this.forks, ...this.inheritedForks].filter(
      ({ forkOriginAlternativeId, folded, summary, kind }) =>
        forkOriginAlternativeId === id && folded && summary && kind !== "tool_run",
    );
  }
  get cursor(): string | undefined {
    void this.revision;
    return this.tree.cursor;
  }

  /** Fetches the bodies of these nodes, which lie on one path, top first. */
  async want(nodes: string[]): Promise<void> {
    this.generations.want(nodes.filter((id) => this.#isMade(id)));
    const missing = nodes.filter(
      (id) => !this.bodies.has(id) && !this.#asked.has(id) && !id.startsWith("local-"),
    );
    const last = missing.at(-1);
    const first = missing[0];
    if (!last || !first) return;
    missing.forEach((id) => this.#asked.add(id));
    const limit = Math.min(BODIES_AT_ONCE, nodes.indexOf(last) - nodes.indexOf(first) + 1);
    try {
      const page = await call("get", "/api/v1/conversations/{id}/path", {
        params: { id: this.id },
        query: { nodeId: last, limit },
      });
      for (const node of page.data) this.#body(node);
      const still = missing.filter((id) => !this.bodies.has(id));
      await Promise.all(
        still
          .slice(-BODIES_AT_ONCE)
          .map((id) => this.#read(id).catch((error: unknown) => this.#missed([id], error))),
      );
    } catch (error) {
      this.#missed(missing, error);
    }
  }
  #missed(nodes: string[], error: unknown): void {
    for (const id of nodes) {
      this.#asked.delete(id);
      if (!this.bodies.has(id)) this.unread.set(id, asProblem(error));
    }
  }
  /** Asks once more for what could not be read. */
  async wantAgain(): Promise<void> {
    const missing = [...this.unread.keys()];
    this.unread.clear();
    await this.want(missing);
  }

  #isMade(id: string): boolean {
    const treeNode = this.tree.treeNodes.get(id);
    return (treeNode?.author === "model" || treeNode?.author === "system") && treeNode.status !== "pending";
  }

  async fetch(id: string): Promise<Node | undefined> {
    return this.#read(id).catch(() => {
      this.#asked.delete(id);
      return undefined;
    });
  }
  async #read(id: string): Promise<Node> {
    const nth = (this.#asks.get(id) ?? 0) + 1;
    this.#asks.set(id, nth);
    const node = await call("get", "/api/v1/nodes/{id}", { params: { id } });
    if (node.conversationId !== this.id || nth < (this.#taken.get(id) ?? 0)) return node;
    this.#taken.set(id, nth);
    this.take(node);
    return node;
  }

  #body(node: Node): void {
    const before = this.bodies.get(node.id);
    this.bodies.set(node.id, { ...node, tags: node.tags ?? before?.tags });
    const treeNode = this.tree.treeNodes.get(node.id);
    if (treeNode && treeNode.status !== node.status) {
      this.tree.put(node);
      this.#changed();
    }
  }

  /** Takes a node as the server tells it. */
  take(node: Node): void {
    if (this.#gone) return;
    this.tree.put(node);
    this.bodies.set(node.id, { ...node, tags: node.tags ?? this.bodies.get(node.id)?.tags });
    if (node.tags?.includes(CANONICAL)) this.canonical = node.id;
    else if (node.tags && this.canonical === node.id) this.canonical = undefined;
    if (node.status === "pending") void this.#followPending();
    else {
      answers.drop(node.id);
      outbox.ended(node);
      this.#settle(node.id, node);
      if (this.#isMade(node.id)) this.generations.again(node.id);
    }
    this.#changed();
  }

  /** Waits until a node is finished or failed; undefined when the conversation was left before. */
  settled(id: string): Promise<Node | undefined> {
    const node = this.bodies.get(id);
    if (this.#gone || (node && node.status !== "pending")) return Promise.resolve(node);
    return new Promise((resolve) => this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]));
  }
  #settle(id: string, node?: Node): void {
    this.#waiting.get(id)?.forEach((resolve) => resolve(node));
    this.#waiting.delete(id);
  }

  turnTo(id: string): void {
    this.#show(id);
    outbox.follow(this.id, new Set(this.tree.ancestors(id)));
  }
  #show(id: string): void {
    this.moves += 1;
    this.tree.turnTo(id);
    this.#changed();
  }
  /** Asks for answers and shows the one that is to be shown, unless somebody went elsewhere meanwhile. */
  async answer(ask: () => Promise<Schemas["Mutated_AnsweringView"]>): Promise<void> {
    const { moves } = this;
    const made = await this.branchMoves.inTurn(ask);
    this.begun(made, this.moves === moves);
  }
  async answerAfter(
    node: string,
    processIds: string[],
    samples: number,
    rememberProcess = true,
  ): Promise<void> {
    const params = { id: this.id };
    const body = { parentAlternativeId: node, speaker: "agent", processIds, samples, rememberProcess };
    const path = "/api/v1/conversations/{id}/turns";
    await this.answer(
      async () => (await call("post", path, { params, body })) as Schemas["Mutated_AnsweringView"],
    );
  }
  /** Runs make these nodes: they are listened to, and the one that is to be shown is turned to. */
  begun({ answers: made }: Schemas["Mutated_AnsweringView"], go: boolean): void {
    for (const { node, executionId } of made) {
      this.follow(node.id, executionId);
      // A person who went elsewhere meanwhile stays there.
      this.take(go ? node : { ...node, isActive: false });
    }
    // One that failed at once is not where the path stands.
    const shown = made.find(({ node }) => node.isActive) ?? made.find(({ node }) => node.status !== "failed");
    if (go && shown) this.turnTo(shown.node.id);
  }

  /** A queued message is shown as a node until the server has it. */
  #sent(sent: Sent): void {
    if (sent.kind !== "changed" && sent.entry.conversation !== this.id) return;
    if (sent.kind === "changed") this.#showWaiting();
    else if (sent.kind === "answering")
      this.begun(sent.made, this.tree.cursor === sent.made.answers[0]?.node.parentAlternativeId);
    else if (sent.kind === "said") {
      const wasHere = this.tree.cursor === standIn(sent.entry.key);
      this.take(sent.node);
      // The outbox knows it by its stand-in until it has heard this.
      if (wasHere) this.#show(sent.node.id);
    } else {
      const { node, problem, entry } = sent;
      const retry = () =>
        void this.attempt(node, "answer", () => this.answerAfter(node, entry.processIds, entry.samples));
      this.problems.set(node, { what: "answer", problem, retry });
    }
  }
  #standIns: string[] = [];
  #showWaiting(): void {
    const waiting = outbox.of(this.id).filter(({ node }) => node === undefined);
    if (waiting.length === 0 && this.#standIns.length === 0) return;
    const { cursor } = this.tree;
    const above = cursor && this.tree.treeNodes.get(cursor)?.parent;
    for (const id of this.#standIns.reverse()) {
      this.tree.remove(id);
      this.bodies.delete(id);
    }
    this.#standIns = [];
    for (const entry of waiting) {
      const node = localNode(entry);
      this.#standIns.push(node.id);
      this.tree.put(node);
      this.bodies.set(node.id, node);
    }
    // A cursor on a withdrawn message moves to the node above it.
    const here = [cursor, this.#standIns.at(-1), above].find((id) => id && this.tree.treeNodes.has(id));
    if (here) this.tree.turnTo(here);
    this.#changed();
  }

  /** Listens to whatever is being said in this conversation. */
  async #followPending(): Promise<void> {
    const pending = [...this.tree.treeNodes.values()].filter(
      (treeNode) =>
        treeNode.status === "pending" &&
        !answers.isFollowed(treeNode.id) &&
        !treeNode.id.startsWith("local-"),
    );
    if (pending.length === 0) return;
    const running = await call("get", "/api/v1/executions", {
      query: { conversationId: this.id, status: "running", limit: 100 },
    });
    for (const { nodeId, id } of running.data)
      if (nodeId && pending.some((treeNode) => treeNode.id === nodeId)) this.follow(nodeId, id);
    const unknown = pending.filter((treeNode) => !answers.isFollowed(treeNode.id));
    await Promise.all(unknown.map((treeNode) => this.fetchIfDone(treeNode.id)));
  }
  async fetchIfDone(id: string): Promise<void> {
    const node = await call("get", "/api/v1/nodes/{id}", { params: { id } }).catch(() => undefined);
    if (node && node.status !== "pending") this.take(node);
  }
  follow(node: string, executionId: string): void {
    answers.follow(node, executionId, () => void this.fetch(node));
  }

  async #told({ event, subject, cursor }: ServerEvent): Promise<void> {
    if (!OWN_EVENTS.test(event) || this.#gone) return;
    if (event.startsWith("node.")) {
      const known = this.tree.treeNodes.get(subject);
      // An answer completed here needs no second read unless its marks changed.
      if (known && known.status === "complete" && this.bodies.has(subject) && event === "node.created")
        return;
      await this.fetch(subject);
    } else if (event === "path.moved") {
      const { moves } = this;
      if (this.branchMoves.isOld(subject, cursor) || this.tree.cursor === subject) return;
      const isOurs =
        this.tree.treeNodes.has(subject) || (await this.fetch(subject))?.conversationId === this.id;
      if (isOurs && this.moves === moves) this.turnTo(subject);
    } else if (subject === this.id) {
      this.about = await call("get", "/api/v1/conversations/{id}", { params: { id: this.id } }).catch(
        () => this.about,
      );
    } else if (event === "branch.created" || event === "branch.folded") {
      await this.#loadForks().catch(() => undefined);
    }
  }

  /** Does something to a node; when it is refused, that is shown beside the node. */
  async attempt(node: string, what: string, act: () => Promise<unknown>): Promise<boolean> {
    this.problems.delete(node);
    this.busy.add(node);
    try {
      await act();
      return true;
    } catch (error) {
      const retry = () => void this.attempt(node, what, act);
      this.problems.set(node, { what, problem: asProblem(error), retry });
      return false;
    } finally {
      this.busy.delete(node);
      if (jobs.runs.length === 0) void jobs.refresh();
    }
  }
}
