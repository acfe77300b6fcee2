// The next turn of a conversation while it is written: words and attachments, kept in this browser until the server has them.
import type { Problem } from "../api/problem";
import type { Block } from "./content";
import { draft, dropDraft, keepDraft } from "./drafts";

export interface DraftAttachment {
  key: string;
  name: string;
  /** There once it is uploaded. */
  block?: Block;
  problem?: Problem;
}
interface StoredDraft {
  text: string;
  attached: DraftAttachment[];
}
export const placeOf = (conversation: string): string => `conversation/${conversation}`;

export class MessageDraft {
  readonly place: string;
  text = $state("");
  attached = $state.raw<readonly DraftAttachment[]>([]);
  problem = $state.raw<Problem>();
  isSending = $state(false);

  constructor(conversation: string) {
    this.place = placeOf(conversation);
    const kept = draft<StoredDraft | string | undefined>(this.place, undefined);
    // Drafts were only words once.
    const { text, attached } = typeof kept === "string" ? { text: kept, attached: [] } : (kept ?? NOTHING);
    this.text = text;
    this.attached = attached;
  }
  get isEmpty(): boolean {
    return this.text.trim() === "" && this.attached.length === 0;
  }
  get isUploading(): boolean {
    return this.attached.some(({ block, problem }) => !block && !problem);
  }
  /** Something is under way that will write here. */
  get isLive(): boolean {
    return this.isSending || this.isUploading || this.problem !== undefined;
  }
  put(text: string): void {
    this.text = text;
    this.#keep();
  }
  attach(attached: readonly DraftAttachment[]): void {
    this.attached = attached;
    this.#keep();
  }
  /** Takes everything out to be sent; `giveBack` puts it before what was written since. */
  take(): { text: string; attached: readonly DraftAttachment[]; giveBack: () => void } {
    const { text, attached } = this;
    this.text = "";
    this.attached = [];
    const giveBack = () => {
      this.text = text + (this.text ? `\n${this.text}` : "");
      this.attached = [...attached, ...this.attached];
      this.#keep();
    };
    return { text, attached, giveBack };
  }
  #keep(): void {
    // An attachment that is still uploading is not part of the message yet.
    const attached = this.attached.filter(({ block }) => block);
    if (this.text === "" && attached.length === 0) dropDraft(this.place);
    else keepDraft(this.place, { text: this.text, attached } satisfies StoredDraft);
  }
}
const NOTHING: StoredDraft = { text: "", attached: [] };

/** Drafts that are on the screen or that a running action will still write to. */
const open = new Map<string, MessageDraft>();

/** Draft of a conversation. Returning to it while it is being sent finds the same draft. */
export function messageDraftOf(conversation: string): MessageDraft {
  const before = open.get(conversation);
  if (before?.isLive) return before;
  const writing = new MessageDraft(conversation);
  open.set(conversation, writing);
  return writing;
}
