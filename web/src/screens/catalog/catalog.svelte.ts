// Caches the user's catalog entries and updates them on server events.
import { all, call } from "../../api/client";
import { onResync, onServerEvent } from "../../api/events";
import { LatestRequest } from "../../state/latestRequest";
import { session } from "../../state/session.svelte";
import { kinds, SYSTEM, type Entries, type Entry, type Kind } from "./kinds";

const SHOWN_MAX = 1_000;
const REFRESH_WAIT_MS = 120;

type Lists = { [K in Kind]?: Entries[K][] };
const fetchers: { [K in Kind]: (cursor?: string) => Promise<Entries[K][]> } = {
  services: () => all((cursor) => call("get", "/api/v1/services", { query: { cursor } }), SHOWN_MAX),
  tools: () => all((cursor) => call("get", "/api/v1/tools", { query: { cursor } }), SHOWN_MAX),
  secrets: () => all((cursor) => call("get", "/api/v1/secrets", { query: { cursor } }), SHOWN_MAX),
  "service-templates": () =>
    all(
      (cursor) => call("get", "/api/v1/service-templates", { query: { cursor, includeArchived: true } }),
      SHOWN_MAX,
    ),
  "tool-templates": () =>
    all(
      (cursor) => call("get", "/api/v1/tool-templates", { query: { cursor, includeArchived: true } }),
      SHOWN_MAX,
    ),
};

class Catalog {
  #lists = $state.raw<Lists>({});
  errors = $state.raw<{ [K in Kind]?: unknown }>({});
  #timers = new Map<Kind, ReturnType<typeof setTimeout>>();
  #newest: Record<Kind, LatestRequest> = {
    services: new LatestRequest(),
    tools: new LatestRequest(),
    secrets: new LatestRequest(),
    "service-templates": new LatestRequest(),
    "tool-templates": new LatestRequest(),
  };

  list<K extends Kind>(kind: K): Entries[K][] | undefined {
    return this.#lists[kind];
  }
  get services() {
    return this.#lists.services ?? [];
  }
  get tools() {
    return this.#lists.tools ?? [];
  }
  get secrets() {
    return this.#lists.secrets ?? [];
  }
  entry<K extends Kind>(kind: K, id: string): Entries[K] | undefined {
    return (this.#lists[kind] as Entries[K][] | undefined)?.find((entry) => entry.id === id);
  }
  nameOf = (id: string): string | undefined => this.services.find((service) => service.id === id)?.name;

  async refresh(kind: Kind): Promise<void> {
    const isNewest = this.#newest[kind].ask();
    try {
      const list = await fetchers[kind]();
      if (!isNewest()) return;
      this.#lists = { ...this.#lists, [kind]: list.sort(order) };
      this.errors = { ...this.errors, [kind]: undefined };
    } catch (error) {
      if (isNewest()) this.errors = { ...this.errors, [kind]: error };
    }
  }
  /** Puts in what a change answered, so that it is seen at once. */
  put<K extends Kind>(kind: K, entry: Entries[K]): void {
    const others = ((this.#lists[kind] ?? []) as Entries[K][]).filter(({ id }) => id !== entry.id);
    this.#lists = { ...this.#lists, [kind]: [...others, entry].sort(order) };
  }
  drop(kind: Kind, id: string): void {
    const list = (this.#lists[kind] ?? []) as Entry[];
    this.#lists = { ...this.#lists, [kind]: list.filter((entry) => entry.id !== id) };
  }

  start(): () => void {
    for (const { id } of kinds) void this.refresh(id);
    const stops = [
      onServerEvent(({ event }) => {
        for (const kind of kinds) if (event.startsWith(kind.event)) this.#soon(kind.id);
      }),
      onResync(() => kinds.forEach(({ id }) => this.#soon(id))),
    ];
    return () => stops.forEach((stop) => stop());
  }
  #soon(kind: Kind): void {
    clearTimeout(this.#timers.get(kind));
    this.#timers.set(
      kind,
      setTimeout(() => void this.refresh(kind), REFRESH_WAIT_MS),
    );
  }
}

/** One's own first, then by name; what Skein brings along comes last. */
function order(one: Entry, other: Entry): number {
  const rank = (entry: Entry) => (entry.ownerId === SYSTEM ? 1 : 0);
  return rank(one) - rank(other) || one.name.localeCompare(other.name);
}

export const isOwn = (entry: { ownerId: string }): boolean => entry.ownerId === session.account?.user.id;
export const catalog = new Catalog();
