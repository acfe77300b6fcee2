// The conversations of the project at hand, last used first, kept in step with what happens.
import { untrack } from "svelte";
import { all, call, type Schemas } from "../../api/client";
import { onResync, onServerEvent } from "../../api/events";
import { asProblem, type Problem } from "../../api/problem";
import { project } from "../../state/project.svelte";
import { LatestRequest } from "../../state/latestRequest";

export type ListedConversation = Schemas["ConversationView"];
const PAGE = 500;
/** A burst of events is one change. */
const REST_MS = 300;
const CHANGES = /^(conversation|branch|project|node)\./;

/** True if the early response fits the wanted project: the last used of all projects may all belong to it. */
export const isOf = (
  current: string | undefined,
  asked: string | undefined,
  found: readonly Pick<ListedConversation, "projectId">[],
): boolean =>
  asked === current || (asked === undefined && found.every(({ projectId }) => projectId === current));

export class Conversations {
  list = $state.raw<ListedConversation[]>();
  problem = $state.raw<Problem>();
  #most: number;
  #newest = new LatestRequest();
  #also: () => Promise<void>;

  /** To be made while a component is set up; `also` is read along with them. */
  constructor(most: number, also: () => Promise<void> = async () => {}) {
    this.#most = most;
    this.#also = also;
    $effect(() => {
      // Values read on the way must not trigger another read.
      void untrack(() => this.load());
      let timer: ReturnType<typeof setTimeout> | undefined;
      const soon = () => {
        clearTimeout(timer);
        timer = setTimeout(() => void this.load(), REST_MS);
      };
      const stops = [onResync(soon), onServerEvent(({ event }) => void (CHANGES.test(event) && soon()))];
      return () => {
        clearTimeout(timer);
        stops.forEach((stop) => stop());
      };
    });
  }

  #of(projectId: string | undefined): Promise<ListedConversation[]> {
    const limit = Math.min(this.#most, PAGE);
    return all(
      (cursor) => call("get", "/api/v1/conversations", { query: { projectId, cursor, limit } }),
      this.#most,
    );
  }

  load = async (): Promise<void> => {
    const isNewest = this.#newest.ask();
    try {
      const { likely } = project;
      // Asked before the projects are known, and of all of them in a browser that has not been here. Another person may have signed
      // in since: then it is nothing of theirs.
      const early = this.#of(likely).catch(() => undefined);
      const [first] = await Promise.all([early, project.refresh(), this.#also()]);
      const current = project.current?.id;
      const found = first && isOf(current, likely, first) ? first : await this.#of(current);
      if (!isNewest()) return;
      this.list = found.sort((one, other) => Date.parse(other.activeAt) - Date.parse(one.activeAt));
      this.problem = undefined;
    } catch (error) {
      if (isNewest()) this.problem = asProblem(error);
    }
  };
}
