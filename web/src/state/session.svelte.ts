// The signed-in user and the connection to the server.
import { call, onProblem, type Schemas } from "../api/client";
import { onConnection, reconnect, startEvents, stopEvents, type Connection } from "../api/events";
import { asProblem, type Problem } from "../api/problem";
import { writeStored, readStored } from "./browserStorage";

export type SignIn = "asking" | "in" | "out" | "unreachable";

/** User who signed in last in any tab of this browser: requests go out in their name. */
const PLACE = "user";

class Session {
  state = $state<SignIn>("asking");
  account = $state.raw<Schemas["AccountView"]>();
  connection = $state<Connection>("connecting");
  problem = $state.raw<Problem>();
  /** Event position when this tab was opened. */
  openedAt: string | undefined;
  /** User whose data this tab shows. */
  #known: string | undefined;

  /** True if requests go out in the name of the user whom this tab shows. */
  get isOwn(): boolean {
    const user = this.account?.user.id;
    return this.state === "in" && readStored(PLACE, user) === user;
  }
  get isAdmin(): boolean {
    return this.account?.user.role === "admin";
  }
  /** Signed in once, refused now: what is on the screen stays, and a notice says what to do. */
  get isExpired(): boolean {
    return this.state === "out" && this.account !== undefined;
  }

  start(): void {
    onProblem((problem) => {
      if (problem.status === 401) this.#out();
    });
    onConnection((connection) => (this.connection = connection));
    addEventListener("focus", () => this.#lookAgain());
    addEventListener("online", () => this.#lookAgain());
    addEventListener("storage", ({ key }) => void (key === `skein.${PLACE}` && this.look()));
    void this.look();
  }

  /** Asks the server who this browser is. */
  async look(): Promise<void> {
    try {
      const account = await call("get", "/api/v1/account");
      const { id } = account.user;
      if (readStored(PLACE, undefined) !== id) writeStored(PLACE, id);
      // Everything this tab knows is somebody else's.
      if (this.#known !== undefined && this.#known !== id) return location.reload();
      this.#known = id;
      this.account = account;
      this.problem = undefined;
      this.state = "in";
      this.openedAt ??= account.cursor;
      startEvents(account.cursor);
      reconnect();
    } catch (error) {
      const problem = asProblem(error);
      this.problem = problem;
      if (problem.status === 401) this.#out();
      else if (this.state !== "in") this.state = "unreachable";
    }
  }

  async signOut(): Promise<void> {
    await call("delete", "/api/v1/account/session");
    this.account = undefined;
    this.#out();
  }

  #lookAgain(): void {
    if (this.state !== "in") void this.look();
    else reconnect();
  }

  #out(): void {
    this.state = "out";
    stopEvents();
  }
}

export const session = new Session();
