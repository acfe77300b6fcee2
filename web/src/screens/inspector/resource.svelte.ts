// Something read from the server: its value, or why it is not there, and how to read it again.
import { isAbort } from "../../api/client";
import { onResync, onServerEvent, type ServerEvent } from "../../api/events";

const AGAIN_WAIT_MS = 200;

export class Resource<T> {
  value = $state.raw<T>();
  problem = $state.raw<unknown>();
  busy = $state(false);
  #abort: AbortController | undefined;
  #read: (signal: AbortSignal) => Promise<T>;

  constructor(read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read;
    void this.again();
  }

  again = async (): Promise<void> => {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    this.busy = true;
    try {
      this.value = await this.#read(abort.signal);
      this.problem = undefined;
    } catch (error) {
      if (isAbort(error)) return;
      this.problem = error;
    }
    if (this.#abort === abort) this.busy = false;
  };
  stop(): void {
    this.#abort?.abort();
  }
}

/** Calls back, once for several, when something that concerns it happened; for an `$effect`. */
export function onRelevantEvent(concerns: (told: ServerEvent) => boolean, again: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(again, AGAIN_WAIT_MS);
  };
  const stops = [onServerEvent((told) => concerns(told) && soon()), onResync(soon)];
  return () => {
    clearTimeout(timer);
    stops.forEach((stop) => stop());
  };
}
