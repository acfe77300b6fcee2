// Tracks this tab's moves between branches and ignores older server events.
import { settledOrTimeout } from "./timeout";
import { isAfter } from "./eventPosition";

export class BranchMoves {
  /** Moves without a response or event of the server, in order. */
  #open: { node: string }[] = [];
  #running = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** The node the server has confirmed. */
  #stands: string | undefined;
  /** Event position of the last move. */
  #reached: string | undefined;

  /** Sends a move after the previous ones: the last move wins. `tell` returns its event position. */
  async tell(from: string | undefined, node: string, tell: () => Promise<string | undefined>): Promise<void> {
    if (this.#running === 0) this.#stands = from;
    this.#running += 1;
    const move = { node };
    this.#open.push(move);
    try {
      this.#reached = (await this.inTurn(tell)) ?? this.#reached;
      this.#stands = node;
    } finally {
      this.#running -= 1;
      this.#open = this.#open.filter((one) => one !== move);
    }
  }
  /** Node to return to when the server refused the last move. */
  get stands(): string | undefined {
    return this.#stands;
  }
  /** Runs the actions of this tab in order, so that the last one is undone first. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = settledOrTimeout(done.catch(() => undefined));
    return done;
  }
  /**
   * True if an event of a move is outdated: this tab made it, or a later one. Events arrive in order, so an event during an
   * open move came before it.
   */
  isOld(node: string, position: string): boolean {
    const at = this.#open.findIndex((move) => move.node === node);
    if (at >= 0) this.#open.splice(0, at + 1);
    return (
      at >= 0 || this.#open.length > 0 || (this.#reached !== undefined && !isAfter(position, this.#reached))
    );
  }
  /** Clears the state after a full reload, which contains all earlier events. */
  forget(): void {
    this.#open = [];
    this.#reached = undefined;
  }
}
