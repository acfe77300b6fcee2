// Where somebody went from this tab, and which tellings of the server are older than that.
export class Turnings {
  /** Where they went and the server has not told of yet, in the order in which they went. */
  #untold: string[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** Tells the server, after what it was told before: where somebody went last is where they stand. */
  async tell(node: string, tell: () => Promise<unknown>): Promise<void> {
    this.#untold.push(node);
    const told = this.#last.then(tell);
    this.#last = told.catch(() => undefined);
    try {
      await told;
    } catch (error) {
      const at = this.#untold.indexOf(node);
      if (at >= 0) this.#untold.splice(at, 1);
      throw error;
    }
  }
  /** Whether a move that is told of came before the last one from here: every move is told, in the order of the moves. */
  isOld(node: string): boolean {
    const at = this.#untold.indexOf(node);
    if (at >= 0) this.#untold.splice(0, at + 1);
    return this.#untold.length > 0;
  }
  /** All was read anew; what was told meanwhile is in it. */
  forget(): void {
    this.#untold = [];
  }
}
