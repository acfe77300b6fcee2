// Shared state of the screen: the conversation, the focused turn and the open panes.
import { getContext, setContext } from "svelte";
import type { Content } from "../../state/content";
import type { Conversation } from "../../state/conversation.svelte";
import { selectAlternative } from "../../state/conversationActions";
import type { ShownTurn } from "../../state/tree";
import { staleTail, type StaleTail, type Version } from "./shownPath";

export type Sheet =
  "generate" | "tags" | "history" | "fold" | "links" | "title" | "below" | "branches" | undefined;

/** Which version of a turn an act is meant for. */
export interface VersionQuestion {
  tail: StaleTail;
  title: string;
  /** True if the act makes sense without the answers on the screen. */
  isChosenOffered: boolean;
  decide: (version: Version) => void;
}

export class View {
  readonly conversation: Conversation;
  /** The turns on the screen; after a rewind the later ones are left out. */
  readonly path: () => readonly ShownTurn[];
  /** The turn that keys act on. */
  focused = $state<string>();
  editing = $state<string>();
  annotating = $state<string>();
  sheet = $state<Sheet>();
  /** Of a path that ends with answers to another version: which of the two is folded. */
  foldedVersion: Version | undefined;
  /** Processes that answer next; undefined until the list has loaded. */
  answering = $state.raw<readonly string[]>();
  /** A withdrawn message for the composer. */
  returned = $state.raw<Content>();
  /** From when to when nodes came that this browser has not shown yet. */
  news = $state.raw<{ after: number; until: number }>();

  #question = $state.raw<VersionQuestion>();

  constructor(conversation: Conversation, path: () => readonly ShownTurn[]) {
    this.conversation = conversation;
    this.path = path;
  }
  get processIds(): string[] {
    return [...(this.answering ?? [])];
  }
  /** Asked before an act on a stale tail; gone once that tail is no longer on the screen. */
  get question(): VersionQuestion | undefined {
    const [question, tail] = [this.#question, staleTail(this.path())];
    const isSame = tail?.chosen === question?.tail.chosen && tail?.stale === question?.tail.stale;
    return isSame ? question : undefined;
  }
  ask(question: Omit<VersionQuestion, "decide">, decide: (version: Version) => void): void {
    const done = (version: Version) => {
      this.dropQuestion();
      decide(version);
    };
    this.#question = { ...question, decide: done };
  }
  dropQuestion(): void {
    this.#question = undefined;
  }

  /**
   * Does something to a turn. A turn among answers to another version is on no path of the server as the screen shows it: a
   * person first says that this version is meant, and goes there.
   */
  onItsPath(node: string, title: string, act: () => unknown): void {
    const tail = staleTail(this.path());
    if (!tail?.nodes.includes(node)) return void act();
    this.ask({ tail, title, isChosenOffered: false }, () => {
      void selectAlternative(this.conversation, node);
      act();
    });
  }
  /** Asks for answers in the place of one: the first answer to another version is answered anew for the version above it. */
  toAbove(node: string, act: () => unknown): void {
    if (staleTail(this.path())?.stale === node) return void act();
    this.onItsPath(node, "Which version is answered?", act);
  }
  isNew(createdAt: number | undefined): boolean {
    const { news } = this;
    return news !== undefined && createdAt !== undefined && createdAt > news.after && createdAt <= news.until;
  }
  open(sheet: Exclude<Sheet, undefined>, node?: string): void {
    if (node) this.focused = node;
    this.sheet = sheet;
    this.dropQuestion();
  }
}

const KEY = Symbol("conversation view");
export const setView = (view: View): View => setContext(KEY, view);
export const useView = (): View => getContext<View>(KEY);
