// Delivers server events to all tabs of a browser over one connection.
//
// A browser opens six connections to a server at most, so tabs elect one that listens (a lock of the browser) and tells
// the others. When it is closed another one takes over, from where the last message stood.
import { isAbort } from "./client";
import { look } from "./look";
import { Problem } from "./problem";
import { messages } from "./sse";

export interface ServerEvent {
  /** One of the names in the API document; `resync` when too much was missed to be told one by one. */
  event: string;
  subject: string;
  subjectType?: string | null;
  itemId: string;
  at: string;
  /** Its place among all that happened, as changes name theirs. */
  cursor: string;
}
export interface ProgressEvent {
  operationId: string;
  progress: number;
}
export type Connection = "connecting" | "open" | "lost" | "refused";

type TabMessage =
  | { kind: "told"; told: ServerEvent; cursor?: string }
  | { kind: "progress"; progress: ProgressEvent }
  | { kind: "resync"; cursor?: string }
  | { kind: "connection"; connection: Connection }
  | { kind: "ask" };

const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 15_000;
/** Tabs that look at somebody else's things hear of those. */
const LOCK = look ? `skein-events-${look.grant}` : "skein-events";

const tellings = new Set<(told: ServerEvent) => void>();
const progressions = new Set<(progress: ProgressEvent) => void>();
const resyncs = new Set<() => void>();
const connections = new Set<(connection: Connection) => void>();

let cursor: string | undefined;
let connection: Connection = "connecting";
let leads = false;
let started: AbortController | undefined;
let channel: BroadcastChannel | undefined;
let wake: (() => void) | undefined;

function subscribe<T>(to: Set<T>, listener: T): () => void {
  to.add(listener);
  return () => to.delete(listener);
}
/** Hears every event; gives back how to stop. */
export const onServerEvent = (listener: (told: ServerEvent) => void) => subscribe(tellings, listener);
export const onProgress = (listener: (progress: ProgressEvent) => void) => subscribe(progressions, listener);
/** Called when the state must be reloaded: after a gap, and after a lost connection. */
export const onResync = (listener: () => void) => subscribe(resyncs, listener);
export function onConnection(listener: (connection: Connection) => void): () => void {
  listener(connection);
  return subscribe(connections, listener);
}

/** Begins to listen from a place before all that this tab reads; call it once somebody is signed in. */
export function startEvents(from: string): void {
  if (started) return;
  // After a new sign-in this tab receives the events it missed.
  cursor ??= from;
  started = new AbortController();
  channel = new BroadcastChannel(LOCK);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => hear(data, false);
  channel.postMessage({ kind: "ask" } satisfies TabMessage);
  const { signal } = started;
  if (!navigator.locks) {
    void lead(signal);
    return;
  }
  navigator.locks.request(LOCK, { signal }, () => lead(signal)).catch(() => undefined);
}

export function stopEvents(): void {
  started?.abort();
  channel?.close();
  started = channel = undefined;
  leads = false;
}

/** Tries at once instead of waiting on. */
export const reconnect = (): void => wake?.();

async function lead(signal: AbortSignal): Promise<void> {
  leads = true;
  let wait = RETRY_FIRST_MS;
  while (!signal.aborted) {
    try {
      const missed = connection === "lost" && cursor === undefined;
      if (connection !== "lost") tell({ kind: "connection", connection: "connecting" });
      const opened = () => {
        wait = RETRY_FIRST_MS;
        tell({ kind: "connection", connection: "open" });
        if (missed) tell({ kind: "resync" });
      };
      for await (const message of messages("/api/v1/events", cursor, signal, opened)) {
        receive(message.event, message.data, message.id);
      }
      tell({ kind: "connection", connection: "lost" });
    } catch (error) {
      if (isAbort(error)) return;
      const refused = error instanceof Problem && error.status === 401;
      tell({ kind: "connection", connection: refused ? "refused" : "lost" });
    }
    await paused(wait, signal);
    wait = Math.min(wait * 2, RETRY_LAST_MS);
  }
}

function receive(event: string, data: string, id: string | undefined): void {
  if (event === "operation.progress") {
    tell({ kind: "progress", progress: JSON.parse(data) as ProgressEvent });
  } else if (event === "resync") {
    tell({ kind: "resync", cursor: id });
  } else {
    tell({ kind: "told", told: JSON.parse(data) as ServerEvent, cursor: id });
  }
}

function tell(heard: TabMessage): void {
  channel?.postMessage(heard);
  hear(heard, true);
}

function hear(heard: TabMessage, own: boolean): void {
  if (heard.kind === "ask") {
    if (leads && !own) channel?.postMessage({ kind: "connection", connection } satisfies TabMessage);
  } else if (heard.kind === "connection") {
    connection = heard.connection;
    for (const listener of connections) listener(connection);
  } else if (heard.kind === "progress") {
    for (const listener of progressions) listener(heard.progress);
  } else {
    if (heard.cursor !== undefined) cursor = heard.cursor;
    if (heard.kind === "resync") for (const listener of resyncs) listener();
    else for (const listener of tellings) listener(heard.told);
  }
}

function paused(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", () => wake?.(), { once: true });
  });
}
