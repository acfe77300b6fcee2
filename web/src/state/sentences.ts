// Sentences of a text that is still being said, for people who hear it.
const MARKS = ".!?…";
const CLOSERS = "\"'”’)]";
/** Full stops that need no space after them. */
const WHOLE_MARKS = "。！？";
const SPACE = /\s/u;

/** Follows a text as it grows, and reads every sign once. */
export class Sentences {
  #read = 0;
  #end = 0;
  /** A full stop was read, and whatever closes after it. */
  #isEnding = false;
  #newlines = 0;

  /** End of the last complete sentence; a full stop within a number or a name ends none. */
  endIn(text: string): number {
    if (text.length < this.#read) this.#begin();
    for (; this.#read < text.length; this.#read++) this.#next(text[this.#read] ?? "", this.#read);
    return this.#end;
  }
  #begin(): void {
    this.#read = this.#end = this.#newlines = 0;
    this.#isEnding = false;
  }
  #next(sign: string, at: number): void {
    this.#newlines = sign === "\n" ? this.#newlines + 1 : 0;
    if (WHOLE_MARKS.includes(sign) || this.#newlines > 1) this.#end = at + 1;
    else if (this.#isEnding && SPACE.test(sign)) this.#end = at;
    this.#isEnding = MARKS.includes(sign) || (this.#isEnding && CLOSERS.includes(sign));
  }
}
