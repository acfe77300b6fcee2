// The state of a map, shared by the canvas and the list: what is shown, which node has the focus, which are picked.
import { all, call, isAbort } from "../../api/client";
import { asProblem } from "../../api/problem";
import { announcer } from "../../shell/announcer.svelte";
import { mark } from "../inspector/marks";
import { names } from "../inspector/names.svelte";
import { BOOKMARKED, EXCLUDED, Forest, PRUNED } from "./forest";
import { spoken, type ColourBy, type Makers } from "./nodeStyle";
import { foldingThatShows, outlineOf, type Folding } from "./outline";
import { Planner } from "./layoutClient";
import { sceneOf, type Scene } from "./scene";
import { Texts } from "./nodeTexts.svelte";

export const PICKED_MAX = 4;
const RUNS_READ_MAX = 10_000;
const STAGES = { read: 30, built: 65, laid: 95 };

export class MapState {
  readonly conversation: string;
  forest = $state.raw<Forest>();
  texts = $state.raw<Texts>();
  scene = $state.raw<Scene>();
  folding = $state.raw<Folding>({ collapsed: new Set(), opened: new Set() });
  by = $state<ColourBy>("speaker");
  makers = $state.raw<Makers>();
  /** By place in the columns; -1 for none. */
  current = $state(-1);
  picked = $state.raw<ReadonlySet<number>>(new Set());
  found = $state.raw<ReadonlySet<number>>(new Set());
  problem = $state.raw<unknown>();
  /** Of what was tried on the map, beside the map. */
  failed = $state.raw<{ title: string; error: unknown }>();
  /** Percent of the first drawing; undefined when it is there. */
  progress = $state<number | undefined>(0);
  /** Grows when marks change under the same scene. */
  revision = $state(0);
  #planner = new Planner();
  #abort = new AbortController();

  constructor(conversation: string) {
    this.conversation = conversation;
  }

  get entry(): number {
    return this.current < 0 ? -1 : (this.scene?.places[this.current] ?? -1);
  }
  get currentId(): string | undefined {
    return this.current < 0 ? undefined : this.forest?.id(this.current);
  }

  /** Reads the tree; what was chosen and folded stays. */
  async load(at?: string, hoist?: string): Promise<void> {
    this.#planner.warm();
    try {
      const read = await call("get", "/api/v1/conversations/{id}/tree", {
        params: { id: this.conversation },
        signal: this.#abort.signal,
      });
      if (this.progress !== undefined) this.progress = STAGES.read;
      this.#take(new Forest(read), at, hoist);
      this.problem = undefined;
      if (this.by === "process") void this.#readMakers();
      await this.#plan();
    } catch (error) {
      if (!isAbort(error)) this.problem = error;
    }
  }

  #take(forest: Forest, at?: string, hoist?: string): void {
    const before = this.forest;
    const place = (id: string | undefined) => {
      if (id === undefined || before) return id === undefined ? undefined : forest.at(id);
      // The first time there are one or two to find: an index of all would only delay the picture.
      const at = forest.ids.indexOf(id);
      return at < 0 ? undefined : at;
    };
    const moved = (old: number) => place(before?.id(old));
    const kept = (old: ReadonlySet<number>) =>
      new Set([...old].map(moved).filter((to): to is number => to !== undefined));
    const { hoisted, collapsed, opened } = this.folding;
    const hoistedNow = before && hoisted !== undefined ? moved(hoisted) : place(hoist);
    this.folding = { hoisted: hoistedNow, collapsed: kept(collapsed), opened: kept(opened) };
    this.picked = kept(this.picked);
    this.found = kept(this.found);
    const asked = before ? undefined : place(at);
    if (asked !== undefined) this.folding = foldingThatShows(forest, this.folding, asked);
    const start = forest.cursor >= 0 ? forest.cursor : (forest.roots[0] ?? -1);
    this.current = asked ?? (before && this.current >= 0 ? moved(this.current) : undefined) ?? start;
    this.texts = new Texts(forest, this.texts);
    this.forest = forest;
  }

  async #plan(): Promise<void> {
    const forest = this.forest;
    if (!forest) return;
    const outline = outlineOf(forest, this.folding);
    const layout = await this.#planner.plan(outline.parent, (stage) => {
      if (this.progress !== undefined) this.progress = STAGES[stage];
    });
    if (!layout || forest !== this.forest) return;
    this.scene = sceneOf(forest, outline, layout);
    this.progress = undefined;
    if (this.entry < 0) this.#focusVisible();
  }

  /** Moves the focus to the nearest shown node if its node was folded away. */
  #focusVisible(): void {
    const { forest, scene } = this;
    if (!forest || !scene) return;
    for (const at of forest.upFrom(this.current)) {
      if ((scene.places[at] ?? -1) >= 0) return void (this.current = at);
    }
    this.current = scene.outline.node[0] ?? -1;
  }

  fold(folding: Folding): void {
    this.folding = folding;
    this.#plan().catch((error: unknown) => (this.problem = error));
  }

  /** Gives a node the focus and opens whatever hides it. */
  reveal(at: number): void {
    if (!this.forest) return;
    this.current = at;
    const entry = this.entry;
    if (entry >= 0 && this.scene?.outline.run[entry] === 0) return;
    this.fold(foldingThatShows(this.forest, this.folding, at));
  }

  select(entry: number, { say = true }: { say?: boolean } = {}): void {
    const at = this.scene?.outline.node[entry];
    if (at === undefined) return;
    this.current = at;
    if (say) announcer.say(this.described(entry));
  }

  /** An entry in words, for people who hear it and for the list. */
  described(entry: number): string {
    const { scene, forest, texts } = this;
    if (!scene || !forest) return "";
    const at = scene.outline.node[entry] ?? 0;
    const run = scene.outline.run[entry] ?? 0;
    if (run > 0) return `${run} turns in a row, folded`;
    const words = texts?.of(at);
    const siblings = forest.siblings(at);
    const marks = forest.marks[at] ?? 0;
    return [
      words?.label,
      words?.brief ?? spoken(forest.author(at)),
      words?.processId ? names.process(words.processId) : spoken(forest.author(at)),
      siblings.length > 1 && `alternative ${siblings.indexOf(at) + 1} of ${siblings.length}`,
      entry === scene.here && "you are here",
      marks & BOOKMARKED && "bookmarked",
      marks & EXCLUDED && "excluded",
      marks & PRUNED && "pruned",
      forest.stale[at] === 1 && "stale",
      forest.status(at) !== "complete" && (forest.status(at) === "pending" ? "running" : "failed"),
    ]
      .filter(Boolean)
      .join(", ");
  }

  toggle(entry: number): void {
    const { scene, folding } = this;
    const at = scene?.outline.node[entry];
    if (!scene || at === undefined || scene.outline.open[entry] === 0) return;
    if (scene.outline.run[entry]) return this.fold({ ...folding, opened: new Set(folding.opened).add(at) });
    const collapsed = new Set(folding.collapsed);
    if (!collapsed.delete(at)) collapsed.add(at);
    this.fold({ ...folding, collapsed });
  }

  pick(at: number): void {
    const picked = new Set(this.picked);
    if (!picked.delete(at)) picked.add(at);
    this.picked = picked;
    announcer.say(picked.has(at) ? `Selected, ${picked.size} in all` : `Deselected, ${picked.size} left`);
  }

  /** Sets or removes a mark of several nodes and reports failures. */
  async mark(nodes: readonly number[], bit: typeof BOOKMARKED | typeof PRUNED): Promise<void> {
    const forest = this.forest;
    if (!forest || nodes.length === 0) return;
    const set = nodes.some((at) => ((forest.marks[at] ?? 0) & bit) === 0);
    const name = bit === BOOKMARKED ? "bookmarked" : "pruned";
    const changes = bit === BOOKMARKED ? { bookmarked: set } : { pruned: set };
    this.failed = undefined;
    for (const at of nodes) {
      const before = forest.marks[at] ?? 0;
      forest.marks[at] = set ? before | bit : before & ~bit;
      this.revision++;
      try {
        await mark(forest.id(at), changes);
      } catch (error) {
        forest.marks[at] = before;
        this.revision++;
        this.failed = { title: "The mark was not saved.", error: asProblem(error) };
      }
    }
    announcer.say(`${set ? "" : "no longer "}${name}`);
  }

  colour(by: ColourBy): void {
    this.by = by;
    if (by === "process" && !this.makers) void this.#readMakers();
  }

  /** Reads which process wrote each node: runs have it, the columns do not. */
  async #readMakers(): Promise<void> {
    const forest = this.forest;
    if (!forest) return;
    try {
      const query = { conversationId: this.conversation, limit: 1000 };
      const runs = await all(
        (cursor) => call("get", "/api/v1/executions", { query: { ...query, cursor } }),
        RUNS_READ_MAX,
      );
      const order: string[] = [];
      const labels: string[] = [];
      const of = new Map<number, number>();
      for (const { nodeId, processId, processName } of runs.reverse()) {
        const at = nodeId ? forest.at(nodeId) : undefined;
        if (at === undefined) continue;
        let maker = order.indexOf(processId);
        if (maker < 0) {
          maker = order.push(processId) - 1;
          labels.push(processName);
        }
        of.set(at, maker);
      }
      this.makers = { names: labels, of };
    } catch (error) {
      this.failed = { title: "Could not load the runs, so processes have no colours.", error };
    }
  }

  stop(): void {
    this.#abort.abort();
    this.#planner.stop();
    this.texts?.stop();
  }
}
