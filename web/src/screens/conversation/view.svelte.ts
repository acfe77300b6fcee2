// Shared state of the screen: the conversation, the focused turn and the open panes.
import { getContext, setContext } from "svelte";
import type { Content } from "../../state/content";
import type { Conversation } from "../../state/conversation.svelte";

export type Sheet =
  "generate" | "tags" | "history" | "fold" | "links" | "title" | "below" | "branches" | undefined;

export class View {
  readonly conversation: Conversation;
  /** The turn that keys act on. */
  focused = $state<string>();
  editing = $state<string>();
  annotating = $state<string>();
  sheet = $state<Sheet>();
  /** Processes that answer next; undefined until the list has loaded. */
  answering = $state.raw<readonly string[]>();
  /** A withdrawn message for the composer. */
  returned = $state.raw<Content>();
  /** From when to when nodes came that this browser has not shown yet. */
  news = $state.raw<{ after: number; until: number }>();

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }
  get processIds(): string[] {
    return [...(this.answering ?? [])];
  }
  isNew(createdAt: number | undefined): boolean {
    const { news } = this;
    return news !== undefined && createdAt !== undefined && createdAt > news.after && createdAt <= news.until;
  }
  open(sheet: Exclude<Sheet, undefined>, node?: string): void {
    if (node) this.focused = node;
    this.sheet = sheet;
  }
}

const KEY = Symbol("conversation view");
export const setView = (view: View): View => setContext(KEY, view);
export const useView = (): View => getContext<View>(KEY);
