// One live run: reloaded on each of its events, with the streaming text of its model.
import { call } from "../../api/client";
import { onResync, onServerEvent } from "../../api/events";
import { listen } from "../../api/stream";
import { LatestRequest } from "../../state/latestRequest";
import type { WholeRun } from "./trace";

const REFRESH_WAIT_MS = 120;
/** Should an event be missed, a run that goes on is looked at anyway. */
const LOOK_EVERY_MS = 4000;
const FOLLOWED = /^(execution|review|tool\.call|tool\.called)/;

export class RunStore {
  readonly id: string;
  run = $state.raw<WholeRun>();
  problem = $state.raw<unknown>();
  said = $state("");
  now = $state(Date.now());
  #newest = new LatestRequest();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stops: (() => void)[] = [];
  #unlisten: (() => void) | undefined;

  constructor(id: string) {
    this.id = id;
  }
  get isOpen(): boolean {
    return this.run?.status === "running";
  }

  start(): () => void {
    const tick = setInterval(() => this.isOpen && (this.now = Date.now()), 500);
    const look = setInterval(() => this.isOpen && this.#soon(), LOOK_EVERY_MS);
    this.#stops = [
      onServerEvent(({ event, subject }) => {
        if (subject === this.id || (this.isOpen && FOLLOWED.test(event))) this.#soon();
      }),
      onResync(() => this.#soon()),
      () => clearInterval(tick),
      () => clearInterval(look),
    ];
    void this.load();
    return () => {
      clearTimeout(this.#timer);
      this.#unlisten?.();
      this.#stops.forEach((stop) => stop());
    };
  }

  async load(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const read = await call("get", "/api/v1/executions/{id}", { params: { id: this.id } });
      if (isNewest()) this.show(read as unknown as WholeRun);
    } catch (error) {
      if (isNewest()) this.problem = error;
    }
  }
  /** A response that was requested earlier is older than the result of a change. */
  turned(run: WholeRun): void {
    this.#newest.ask();
    this.show(run);
  }
  show(run: WholeRun): void {
    this.run = run;
    this.problem = undefined;
    this.now = Date.now();
    if (run.status === "running") this.#listen();
  }

  #listen(): void {
    this.#unlisten ??= listen(this.id, {
      text: (piece) => (this.said += piece),
      reset: (text) => (this.said = text),
      end: () => this.#soon(),
      problem: () => undefined,
    });
  }
  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, REFRESH_WAIT_MS);
  }
}
