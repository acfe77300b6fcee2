// A form whose content is kept in this browser until the server has it.
import { draft, dropDraft, keepDraft } from "./drafts";

export class Form<T> {
  value = $state() as T;
  #place: string;
  #first: T;

  /** To be made while a component is set up: what is typed is kept from then on. */
  constructor(place: string, first: T) {
    this.#place = place;
    this.#first = first;
    this.value = { ...first, ...draft<Partial<T>>(place, {}) };
    $effect(() => {
      const value = $state.snapshot(this.value) as T;
      if (same(value, this.#first)) dropDraft(place);
      else keepDraft(place, value);
    });
  }

  get isChanged(): boolean {
    return !same(this.value, this.#first);
  }
  /** The server has it. */
  taken(): void {
    this.#first = $state.snapshot(this.value) as T;
    dropDraft(this.#place);
  }
  reset(): void {
    this.value = { ...this.#first };
    dropDraft(this.#place);
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
