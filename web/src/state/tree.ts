// The shape of a conversation: which node answers which, what each turn shows, and the path that is on the screen.
import type { Schemas } from "../api/client";

export type Author = "human" | "model" | "system" | "imported";
export type Status = "complete" | "pending" | "failed";
export interface TreeNode {
  id: string;
  parent: string | undefined;
  /** None for a remark. */
  turn: string | undefined;
  ordinal: number;
  author: Author;
  status: Status;
  bookmarked: boolean;
  pruned: boolean;
  excluded: boolean;
  createdAt: number;
  /** In a buffer: the first of the versions it belongs to. They stand in one place and share what follows. */
  versionOf?: string;
}
export interface TreeTurn {
  id: string;
  /** By ordinal. */
  alternatives: string[];
  selected: string | undefined;
}
/** One turn as it is shown. */
export interface ShownTurn {
  turn: string;
  node: string;
  alternatives: string[];
  /** Other turns that go on from the node before. */
  branchTurns: string[];
  /** An answer to something that is not shown above it. Versions of a buffer share their answers. */
  stale: boolean;
  /** True if a turn above it is stale. */
  belowStale: boolean;
}

const AUTHORS: Record<string, Author> = { h: "human", m: "model", s: "system", i: "imported" };
const STATUSES: Record<string, Status> = { c: "complete", p: "pending", f: "failed" };

export class Tree {
  readonly treeNodes = new Map<string, TreeNode>();
  readonly turns = new Map<string, TreeTurn>();
  /** Continuations by place: those of one version are those of every version. */
  readonly #children = new Map<string, string[]>();
  readonly remarks = new Map<string, string[]>();
  cursor: string | undefined;
  root: string | undefined;
  /** The node gone on with last, of those that answer a node: the way down to where somebody was. */
  readonly visited = new Map<string, string>();
  /** An edit in a buffer is a version of what it was edited from. */
  isBuffer = false;
  /** By place: the version that is shown, where there are several. */
  readonly #shownVersions = new Map<string, string>();

  static of(skeleton: Schemas["SkeletonView"], isBuffer = false): Tree {
    const tree = new Tree();
    tree.isBuffer = isBuffer;
    const { nodes, turns } = skeleton;
    const firstVersions = new Map<string, string>();
    for (const [index, id] of nodes.id.entries()) {
      const parent = nodes.parent[index] ?? -1;
      const turn = nodes.turn[index] ?? -1;
      const marks = nodes.marks[index] ?? 0;
      tree.add({
        id,
        parent: parent < 0 ? undefined : nodes.id[parent],
        turn: turn < 0 ? undefined : turns[turn],
        ordinal: nodes.ordinal[index] ?? 0,
        author: AUTHORS[nodes.author[index] ?? "h"] ?? "human",
        status: STATUSES[nodes.status[index] ?? "c"] ?? "complete",
        bookmarked: (marks & 1) !== 0,
        pruned: (marks & 2) !== 0,
        excluded: (marks & 4) !== 0,
        createdAt: nodes.createdAt[index] ?? 0,
        versionOf: firstVersion(firstVersions, id, nodes.id[nodes.shownVersion[index] ?? -1]),
      });
      const treeTurn = turn < 0 ? undefined : tree.turns.get(turns[turn] ?? "");
      if (treeTurn && nodes.selected[index]) treeTurn.selected = id;
      const above = parent < 0 ? undefined : nodes.id[parent];
      if (above && turn >= 0 && nodes.visited[index]) tree.visited.set(tree.#placeOf(above), id);
    }
    for (const [shown, first] of firstVersions) tree.#shownVersions.set(first, shown);
    tree.cursor = skeleton.cursorNodeId ?? undefined;
    return tree;
  }

  /**
   * Takes a node in, or what is new of one that is there. Only one that was not there is turned to where it is active: what
   * is read of another may be older than where somebody went since.
   */
  put(node: Schemas["NodeView"]): void {
    const isNew = !this.treeNodes.has(node.id);
    this.add({
      id: node.id,
      parent: node.parentAlternativeId ?? undefined,
      turn: node.turnId ?? undefined,
      ordinal: node.ordinal ?? 0,
      author: node.authorType as Author,
      status: node.status as Status,
      bookmarked: node.bookmarked,
      pruned: node.pruned,
      excluded: node.excluded,
      createdAt: Date.parse(node.createdAt),
      versionOf: this.isBuffer && node.editedFrom ? this.#placeOf(node.editedFrom) : undefined,
    });
    if (isNew && node.isActive) this.#select(node.id);
  }

  add(treeNode: TreeNode): void {
    const isNew = !this.treeNodes.has(treeNode.id);
    this.treeNodes.set(treeNode.id, treeNode);
    if (treeNode.turn === undefined) {
      // An event may tell of a remark before the answer that says what it is about.
      const beside = treeNode.parent && !this.remarks.get(treeNode.parent)?.includes(treeNode.id);
      if (beside && treeNode.parent) append(this.remarks, treeNode.parent, treeNode.id);
      return;
    }
    if (!isNew) return;
    if (treeNode.versionOf) this.#addVersion(treeNode.id, treeNode.versionOf);
    else if (treeNode.parent) append(this.#children, this.#placeOf(treeNode.parent), treeNode.id);
    const treeTurn = this.turns.get(treeNode.turn) ?? {
      id: treeNode.turn,
      alternatives: [],
      selected: undefined,
    };
    treeTurn.alternatives = [...treeTurn.alternatives, treeNode.id].sort(
      (one, other) => (this.treeNodes.get(one)?.ordinal ?? 0) - (this.treeNodes.get(other)?.ordinal ?? 0),
    );
    this.turns.set(treeNode.turn, treeTurn);
    if (this.root === undefined || treeNode.parent === undefined || this.#isAboveTheRoot(treeNode.id))
      this.root = this.#topOf(treeNode).turn;
  }

  #addVersion(id: string, first: string): void {
    if (!this.#shownVersions.has(first)) this.#shownVersions.set(first, first);
    // An event may name what follows a version before the version itself.
    for (const child of this.#children.get(id) ?? []) append(this.#children, first, child);
    this.#children.delete(id);
  }

  /** An event may name a node before its parent is known. */
  #isAboveTheRoot(id: string): boolean {
    return this.childrenOf(id).some((child) => this.treeNodes.get(child)?.turn === this.root);
  }
  #topOf(treeNode: TreeNode): TreeNode {
    let top = treeNode;
    for (let above: TreeNode | undefined = treeNode; above; above = this.treeNodes.get(above.parent ?? ""))
      top = above;
    return top;
  }

  /** Takes back what was put in before the server had it. */
  remove(id: string): void {
    const treeNode = this.treeNodes.get(id);
    if (!treeNode) return;
    this.treeNodes.delete(id);
    const above = treeNode.parent && this.#placeOf(treeNode.parent);
    if (above) {
      this.#children.set(
        above,
        (this.#children.get(above) ?? []).filter((child) => child !== id),
      );
      if (this.visited.get(above) === id) this.visited.delete(above);
    }
    const treeTurn = treeNode.turn === undefined ? undefined : this.turns.get(treeNode.turn);
    if (!treeTurn) return;
    treeTurn.alternatives = treeTurn.alternatives.filter((alternative) => alternative !== id);
    if (treeTurn.selected === id) treeTurn.selected = treeTurn.alternatives.at(-1);
    if (treeTurn.alternatives.length > 0) return;
    this.turns.delete(treeTurn.id);
    if (this.root === treeTurn.id) this.root = this.#beginning();
  }

  /** The first message may be the stand-in of a node the server now names. */
  #beginning(): string | undefined {
    for (const { turn, parent } of this.treeNodes.values())
      if (turn !== undefined && (parent === undefined || !this.treeNodes.has(parent))) return turn;
    return undefined;
  }

  /** Somebody stands at a node: it and everything above it is what is shown. */
  turnTo(id: string): void {
    this.cursor = id;
    for (const at of this.ancestors(id)) this.#select(at);
  }

  #select(id: string): void {
    const treeNode = this.treeNodes.get(id);
    const treeTurn = treeNode?.turn === undefined ? undefined : this.turns.get(treeNode.turn);
    if (!treeNode || !treeTurn) return;
    treeTurn.selected = id;
    if (treeNode.parent) this.visited.set(this.#placeOf(treeNode.parent), id);
    if (this.hasVersions(id)) this.#shownVersions.set(this.#placeOf(id), id);
  }

  #placeOf(id: string): string {
    return this.treeNodes.get(id)?.versionOf ?? id;
  }
  /** True if it was edited in a buffer: its turn shows one version of it, whatever follows. */
  hasVersions(id: string): boolean {
    return this.#shownVersions.has(this.#placeOf(id));
  }
  /** The version that is shown in its place: the node itself where it has no other. */
  shownVersion(id: string): string {
    return this.#shownVersions.get(this.#placeOf(id)) ?? id;
  }
  /** Continuations of a node, and of every version of it. */
  childrenOf(id: string): string[] {
    return (this.#children.get(this.#placeOf(id)) ?? []).map((child) => this.shownVersion(child));
  }
  #parentOf(id: string): string | undefined {
    const parent = this.treeNodes.get(id)?.parent;
    return parent === undefined ? undefined : this.shownVersion(parent);
  }

  selectedOf(turn: string): string | undefined {
    const treeTurn = this.turns.get(turn);
    return treeTurn?.selected ?? treeTurn?.alternatives.at(-1);
  }

  ancestors(id: string): string[] {
    const found: string[] = [];
    for (let at: string | undefined = id; at; at = this.#parentOf(at)) found.push(at);
    return found.reverse();
  }

  /** Turns whose alternatives answer this node. */
  turnsAfter(node: string): string[] {
    return unique(this.childrenOf(node).map((child) => this.treeNodes.get(child)?.turn));
  }

  /** Continuation of a node: the one last continued, else the newest. */
  after(node: string): string | undefined {
    const visited = this.#visitedAfter(node);
    return visited !== undefined && this.treeNodes.has(visited) ? visited : this.childrenOf(node).at(-1);
  }
  #visitedAfter(node: string): string | undefined {
    const visited = this.visited.get(this.#placeOf(node));
    return visited === undefined ? undefined : this.shownVersion(visited);
  }
  /** The node of a turn that goes on from `before`: the one shown there last, else the newest. */
  onWay(before: string, turn: string): string | undefined {
    const ways = this.childrenOf(before).filter((child) => this.treeNodes.get(child)?.turn === turn);
    const last = [this.#visitedAfter(before), this.turns.get(turn)?.selected];
    return last.find((one) => one !== undefined && ways.includes(one)) ?? ways.at(-1);
  }
  /** The turn of answers to a node, where there is one: the one shown last, else the newest. */
  answersTo(node: string): string | undefined {
    const last = this.#visitedAfter(node);
    const ways = [...this.childrenOf(node), ...(last === undefined ? [] : [last])].reverse();
    return ways.map((one) => this.treeNodes.get(one)).find(isAnswer)?.turn;
  }
  /** Last position below a node: the end of its own continuation. */
  endBelow(node: string): string {
    let end = node;
    for (let next = this.after(end); next; next = this.after(end)) end = next;
    return end;
  }

  /** The turns on the screen: the path, and what goes on below it. A branch can be named by any node on it. */
  shown(through?: string): ShownTurn[] {
    const wanted = new Map<string | undefined, string>();
    if (through) for (const id of this.ancestors(through)) wanted.set(this.#parentOf(id), id);
    const found: ShownTurn[] = [];
    const top = this.root === undefined ? undefined : this.selectedOf(this.root);
    // The path above a fork is not part of this tree.
    let node = (through && this.ancestors(through).find((id) => this.treeNodes.has(id))) || top;
    let before: string | undefined;
    let belowStale = false;
    const seen = new Set<string>();
    while (node && !seen.has(node)) {
      seen.add(node);
      const treeNode = this.treeNodes.get(node);
      if (treeNode?.turn === undefined) break;
      const stale = before !== undefined && this.#parentOf(node) !== this.shownVersion(before);
      const turns = before === undefined ? [] : this.turnsAfter(before);
      found.push({
        turn: treeNode.turn,
        node,
        alternatives: this.turns.get(treeNode.turn)?.alternatives ?? [],
        branchTurns: turns.length > 1 ? turns : [],
        stale,
        belowStale,
      });
      belowStale ||= stale;
      before = node;
      node = wanted.get(this.shownVersion(node)) ?? this.after(node) ?? this.#answerElsewhere(node);
    }
    return found;
  }

  /**
   * Nothing answers what is shown. An answer to another version of it is shown as stale; what people went on to say is not,
   * nor an answer that failed.
   */
  #answerElsewhere(node: string): string | undefined {
    const offered = this.elsewhere(node).map((turn) => {
      const selected = this.selectedOf(turn);
      const newestFirst = [...(this.turns.get(turn)?.alternatives ?? [])].reverse();
      return [selected, ...newestFirst].find((one) => isOffered(this.treeNodes.get(one ?? "")));
    });
    return offered.find((one) => one !== undefined);
  }

  /** Turns below that follow other alternatives of the last shown turn. */
  elsewhere(node: string): string[] {
    const turn = this.treeNodes.get(node)?.turn;
    const alternatives = turn ? (this.turns.get(turn)?.alternatives ?? []) : [];
    const others = alternatives.filter((one) => this.#placeOf(one) !== this.#placeOf(node));
    return unique(others.flatMap((one) => this.turnsAfter(one)));
  }
}

/** True if a process wrote it: a model, or a process that merged several answers. */
export const isAnswer = (treeNode: Pick<TreeNode, "author"> | undefined): boolean =>
  treeNode?.author === "model" || treeNode?.author === "system";

/** The first version of the node whose shown version is `shown`; undefined for the first itself and where there are none. */
function firstVersion(
  firstVersions: Map<string, string>,
  id: string,
  shown: string | undefined,
): string | undefined {
  if (shown === undefined) return undefined;
  const first = firstVersions.get(shown);
  if (first === undefined) firstVersions.set(shown, id);
  return first;
}

const isOffered = (treeNode: TreeNode | undefined): boolean =>
  isAnswer(treeNode) && treeNode?.status !== "failed";

function append(to: Map<string, string[]>, key: string, value: string): void {
  const before = to.get(key);
  if (before) before.push(value);
  else to.set(key, [value]);
}

const unique = (values: (string | undefined)[]): string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];
