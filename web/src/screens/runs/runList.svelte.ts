// The runs that are listed: the newest page stays in step with what happens, older pages are fetched on request.
import { call, type Schemas } from "../../api/client";
import { onResync, onServerEvent } from "../../api/events";
import type { RunView } from "./trace";
import { LatestRequest } from "../../state/latestRequest";

export interface Filter {
  status?: string;
  processId?: string;
}
const PAGE = 50;
const REFRESH_WAIT_MS = 200;

export class RunListStore {
  runs = $state.raw<RunView[]>();
  problem = $state.raw<unknown>();
  next = $state<string>();
  isBusy = $state(false);
  #filter: Filter = {};
  #newest = new LatestRequest();
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(): () => void {
    const stops = [
      onServerEvent(({ event }) => /^(execution|review)\./.test(event) && this.#soon()),
      onResync(() => this.#soon()),
    ];
    return () => {
      clearTimeout(this.#timer);
      stops.forEach((stop) => stop());
    };
  }

  show(filter: Filter): void {
    this.#filter = filter;
    this.runs = undefined;
    void this.refresh();
  }

  async refresh(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const page = await this.#page(undefined);
      if (!isNewest()) return;
      const newest = new Set(page.data.map(({ id }) => id));
      const oldest = page.data.at(-1)?.id ?? "";
      const older = (this.runs ?? []).filter(({ id }) => !newest.has(id) && id < oldest);
      this.runs = [...page.data, ...older];
      if (older.length === 0) this.next = page.pagination.next ?? undefined;
      this.problem = undefined;
    } catch (error) {
      if (isNewest()) this.problem = error;
    }
  }

  /** The result of a change replaces the row, also on an older page. */
  turned(run: RunView): void {
    this.runs = this.runs?.map((one) => (one.id === run.id ? run : one));
    void this.refresh();
  }

  async more(): Promise<void> {
    if (!this.next) return;
    this.isBusy = true;
    try {
      const page = await this.#page(this.next);
      this.runs = [...(this.runs ?? []), ...page.data];
      this.next = page.pagination.next ?? undefined;
    } catch (error) {
      this.problem = error;
    }
    this.isBusy = false;
  }

  #page(cursor: string | undefined): Promise<Schemas["Listing_ExecutionView"]> {
    return call("get", "/api/v1/executions", { query: { ...this.#filter, cursor, limit: PAGE } });
  }
  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh();
    }, REFRESH_WAIT_MS);
  }
}
