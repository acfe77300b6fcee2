// Where somebody went from this tab, and which tellings of the server are older than that.
import { waitedFor } from "./patience";

export class Turnings {
  /** Where they went and the server has not told of yet, in the order in which they went. */
  #untold: string[] = [];
  #underWay = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** Where the server has them for sure. */
  #stands: string | undefined;

  /** Tells the server, after what it was told before: where somebody went last is where they stand. */
  async tell(from: string | undefined, node: string, tell: () => Promise<unknown>): Promise<void> {
    if (this.#underWay === 0) this.#stands = from;
    this.#underWay += 1;
    this.#untold.push(node);
    try {
      await this.inTurn(tell);
      this.#stands = node;
    } catch (error) {
      const at = this.#untold.indexOf(node);
      if (at >= 0) this.#untold.splice(at, 1);
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }
  /** Where to go back to when the server refused the last way. */
  get stands(): string | undefined {
    return this.#stands;
  }
  /** Whatever moves somebody, one after the other: it comes after every way so far, and the ways to come wait for it. */
  inTurn<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#last.then(move);
    this.#last = waitedFor(moved.catch(() => undefined));
    return moved;
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
