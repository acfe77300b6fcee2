// Measures streaming speed in tokens per second over the last few seconds.

/** Without the model's own token counts, four characters count as one token. */
const CHARACTERS_PER_TOKEN = 4;
const WINDOW_MS = 3_000;
/** Less than this tells nothing about speed. */
const SPAN_MIN_MS = 300;

export class TokenRate {
  #heard: { at: number; characters: number }[] = [];

  /** So many more characters were heard. */
  add(characters: number, now: number): void {
    if (characters > 0) this.#heard.push({ at: now, characters });
  }

  /** Nothing while too little was heard, or nothing was for a while. */
  at(now: number): number | undefined {
    this.#heard = this.#heard.filter(({ at }) => now - at <= WINDOW_MS);
    const [first] = this.#heard;
    if (!first) return undefined;
    const span = now - first.at;
    if (span < SPAN_MIN_MS) return undefined;
    // The first piece opens the span; its own duration is unknown.
    const characters = this.#heard.slice(1).reduce((sum, one) => sum + one.characters, 0);
    return characters === 0 ? undefined : (1000 * characters) / CHARACTERS_PER_TOKEN / span;
  }

  clear(): void {
    this.#heard = [];
  }
}
