// A form whose content is kept in this browser until the server has it.
import { draft, dropDraft, keepDraft } from "./drafts";

/** A draft bears the hash of what it was made from: what was changed elsewhere meanwhile is then not overwritten unseen. */
type StoredForm<T> = Partial<T> & { basedOnHash?: string };

export class Form<T extends object> {
  value = $state() as T;
  /** The hash of what the content was made from. */
  base = $state<string>();
  #place: string;
  #first: T;
  #firstBase: string | undefined;

  /** To be made while a component is set up: what is typed is kept from then on. */
  constructor(place: string, first: T, base?: string) {
    this.#place = place;
    this.#first = first;
    this.#firstBase = base;
    const { basedOnHash, ...typed } = draft<StoredForm<T> | undefined>(place, undefined) ?? {
      basedOnHash: base,
    };
    this.value = { ...first, ...typed };
    this.base = this.isChanged ? basedOnHash : base;
    $effect(() => this.keep());
  }

  get isChanged(): boolean {
    return !same(this.value, this.#first);
  }
  keep(): void {
    const value = $state.snapshot(this.value) as T;
    if (same(value, this.#first)) dropDraft(this.#place);
    else keepDraft(this.#place, { ...value, basedOnHash: this.base });
  }
  /**
   * The server has what was sent, as `saved` says. What was typed meanwhile stays, as a change of that; where something was
   * made, it is kept for its own form. Says whether nothing was typed.
   */
  taken(sent: T, saved?: { value: T; base: string; place: string }): boolean {
    const now = saved?.value ?? sent;
    const typed = Object.entries($state.snapshot(this.value) as T).filter(
      ([name, value]) => !same(value, sent[name as keyof T]),
    );
    dropDraft(this.#place);
    this.#place = saved?.place ?? this.#place;
    this.#first = now;
    this.#firstBase = this.base = saved?.base;
    this.value = { ...now, ...Object.fromEntries(typed) };
    this.keep();
    return typed.length === 0;
  }
  /** Shows another state in place of what was typed. */
  take(value: T, base?: string): void {
    this.#first = value;
    this.#firstBase = base;
    this.reset();
  }
  reset(): void {
    this.value = { ...this.#first };
    this.base = this.#firstBase;
    dropDraft(this.#place);
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
