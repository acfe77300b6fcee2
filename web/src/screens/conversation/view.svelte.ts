// What the parts of the screen share: the conversation, which turn has the focus, and what is open.
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
  /** Who answers next; nothing until it is known who can. */
  answering = $state.raw<readonly string[]>();
  /** What was taken back before it was sent, for the composer. */
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
