// The nodes that are compared: what they say, or the paths that lead to them, and the runs that made them.
import { all, call, isAbort, type Schemas } from "../../api/client";

export type Node = Schemas["TaggedNodeView"];
export type Turn = Schemas["NodeView"];
export type Run = Schemas["ExecutionView"];
export type Spending = Schemas["SpendingView"];
export type As = "nodes" | "paths";

/** What stands in one column. */
export interface Column {
  id: string;
  node?: Node;
  problem?: unknown;
  run?: Run;
  /** What the run cost, as far as it is known. */
  cost?: Spending;
  /** What only this path has, from where it parts on. */
  turns?: Turn[];
}
const PATH_MAX = 1000;
const RUNS_MAX = 2000;

export class Compared {
  columns = $state.raw<Column[]>([]);
  /** How many turns all paths have in common. */
  common = $state<number>();
  problem = $state.raw<unknown>();
  busy = $state(false);
  #abort: AbortController | undefined;

  async read(ids: readonly string[], as: As): Promise<void> {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    const before = new Map(this.columns.map((column) => [column.id, column]));
    this.columns = ids.map((id) => before.get(id) ?? { id });
    this.problem = undefined;
    this.busy = true;
    try {
      const columns = await Promise.all(ids.map((id) => this.#column(id, abort.signal)));
      if (this.#abort !== abort) return;
      this.columns = columns;
      if (as === "paths") await this.#paths(columns, abort.signal);
      await this.#runs(abort.signal);
    } catch (error) {
      if (!isAbort(error)) this.problem = error;
    }
    if (this.#abort === abort) this.busy = false;
  }

  async #column(id: string, signal: AbortSignal): Promise<Column> {
    try {
      return { id, node: await call("get", "/api/v1/nodes/{id}", { params: { id }, signal }) };
    } catch (error) {
      if (isAbort(error)) throw error;
      return { id, problem: error };
    }
  }

  async #paths(columns: readonly Column[], signal: AbortSignal): Promise<void> {
    const paths = await Promise.all(
      columns.map(async ({ node }) => {
        if (!node) return [];
        const query = { nodeId: node.id, limit: PATH_MAX };
        const params = { id: node.conversationId };
        return (await call("get", "/api/v1/conversations/{id}/path", { params, query, signal })).data;
      }),
    );
    const common = commonOf(paths.map((path) => path.map(({ id }) => id)));
    this.common = common;
    this.columns = columns.map((column, index) => ({ ...column, turns: paths[index]?.slice(common) }));
  }

  /** The run of an answer is found among those of its conversation. */
  async #runs(signal: AbortSignal): Promise<void> {
    const made = this.columns.filter(({ node }) => node?.executedBy);
    const conversations = new Set(made.map(({ node }) => node?.conversationId ?? ""));
    const runs = new Map<string, Run>();
    for (const conversationId of conversations) {
      const query = { conversationId, limit: 1000 };
      const found = await all(
        (cursor) => call("get", "/api/v1/executions", { query: { ...query, cursor }, signal }),
        RUNS_MAX,
      );
      for (const run of found) if (run.nodeId) runs.set(run.nodeId, run);
    }
    this.columns = this.columns.map((column) => ({ ...column, run: runs.get(column.id) }));
    const costs = await Promise.all(
      this.columns.map(async ({ run }) => {
        if (!run) return undefined;
        return (await call("get", "/api/v1/executions/{id}", { params: { id: run.id }, signal })).cost;
      }),
    );
    this.columns = this.columns.map((column, index) => ({ ...column, cost: costs[index] ?? undefined }));
  }

  stop(): void {
    this.#abort?.abort();
  }
}

/** How many of their first entries all lists share. */
export function commonOf(lists: readonly (readonly string[])[]): number {
  const [first = [], ...rest] = lists;
  let common = 0;
  while (common < first.length && rest.every((list) => list[common] === first[common])) common++;
  return common;
}
