// Lists are read again whenever something changes, and an answer that was asked for earlier may come later.

/** Asks by turns: whoever asked says afterwards whether nobody asked again meanwhile, so that their answer counts. */
export class Newest {
  #asked = 0;
  ask(): () => boolean {
    const own = ++this.#asked;
    return () => own === this.#asked;
  }
}
