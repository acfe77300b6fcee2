// Where somebody went from this tab, and which tellings of the server are older than that.
import { settledOrTimeout } from "./timeout";
import { isAfter } from "./eventPosition";

export class BranchMoves {
  /** Ways that the server has neither answered nor told of, in the order in which they were gone. */
  #open: { node: string }[] = [];
  #underWay = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** Where the server has them for sure. */
  #stands: string | undefined;
  /** The place of the last way among all that happened. */
  #reached: string | undefined;

  /** Tells the server, after what it was told before: where somebody went last is where they stand. `tell` gives its place. */
  async tell(from: string | undefined, node: string, tell: () => Promise<string | undefined>): Promise<void> {
    if (this.#underWay === 0) this.#stands = from;
    this.#underWay += 1;
    const way = { node };
    this.#open.push(way);
    try {
      this.#reached = (await this.inTurn(tell)) ?? this.#reached;
      this.#stands = node;
    } finally {
      this.#underWay -= 1;
      this.#open = this.#open.filter((one) => one !== way);
    }
  }
  /** Where to go back to when the server refused the last way. */
  get stands(): string | undefined {
    return this.#stands;
  }
  /** Whatever somebody does here, one after the other: what was done last comes last, and is what is taken back first. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = settledOrTimeout(done.catch(() => undefined));
    return done;
  }
  /**
   * Whether a move that is told of leads nowhere: it is one from here, or came before the last one from here. Moves are told in
   * their order, so what is told while a way is open came before it.
   */
  isOld(node: string, place: string): boolean {
    const at = this.#open.findIndex((way) => way.node === node);
    if (at >= 0) this.#open.splice(0, at + 1);
    return (
      at >= 0 || this.#open.length > 0 || (this.#reached !== undefined && !isAfter(place, this.#reached))
    );
  }
  /** All was read anew; what was told meanwhile is in it. */
  forget(): void {
    this.#open = [];
    this.#reached = undefined;
  }
}
