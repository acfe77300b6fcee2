// A list on the server: loaded, reloaded on events, and changed by actions.
import { untrack } from "svelte";
import { onServerEvent } from "../api/events";
import { announcer } from "../shell/announcer.svelte";
import { LatestRequest, coalesce } from "./latestRequest";

export class ServerList<T> {
  rows = $state.raw<T[]>();
  /** Error of the last read. */
  failed = $state.raw<unknown>();
  /** Error of the last action. */
  error = $state.raw<unknown>();
  /** The running action. */
  busy = $state<string>();
  #ask: () => Promise<T[]>;
  #newest = new LatestRequest();

  /** To be made while a component is set up. `about` begins the events that change the list. */
  constructor(ask: () => Promise<T[]>, about: string) {
    this.#ask = ask;
    const readAgain = coalesce(() => this.read());
    $effect(() => {
      void untrack(() => this.read());
      return onServerEvent(({ event }) => void (event.startsWith(about) && readAgain()));
    });
  }

  read = async (): Promise<void> => {
    const isNewest = this.#newest.ask();
    try {
      const rows = await this.#ask();
      if (!isNewest()) return;
      this.rows = rows;
      this.failed = undefined;
    } catch (thrown) {
      if (isNewest()) this.failed = thrown;
    }
  };

  /** Does something to one of them, says so, and reads them again. */
  act = async (name: string, said: string, work: () => Promise<unknown>): Promise<boolean> => {
    this.busy = name;
    this.error = undefined;
    try {
      await work();
      announcer.say(said);
      await this.read();
      return true;
    } catch (thrown) {
      this.error = thrown;
      return false;
    } finally {
      this.busy = undefined;
    }
  };
}
