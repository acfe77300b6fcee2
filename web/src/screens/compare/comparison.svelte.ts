// The nodes that are compared: what they say, or the paths that lead to them, and the runs that made them.
import { call, isAbort, type Schemas } from "../../api/client";
import type { Generation } from "../../state/generation";
import { fetchGenerations } from "../../state/cost";

export type Node = Schemas["TaggedNodeView"];
export type Turn = Schemas["NodeView"];
export type Run = Schemas["ExecutionView"];
export type CompareMode = "nodes" | "paths";

/** Content of one column. */
export interface Column {
  id: string;
  node?: Node;
  problem?: unknown;
  run?: Run;
  /** Its usage and cost, as far as known. */
  generation?: Generation;
  /** Turns that only this path has, from its branch point on. */
  turns?: Turn[];
}
const PATH_MAX = 1000;

export class Comparison {
  columns = $state.raw<Column[]>([]);
  /** Number of turns that all paths share. */
  common = $state<number>();
  problem = $state.raw<unknown>();
  busy = $state(false);
  #abort: AbortController | undefined;

  async read(ids: readonly string[], as: CompareMode): Promise<void> {
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

  async #runs(signal: AbortSignal): Promise<void> {
    const made = this.columns.filter(({ node }) => node?.executedBy).map(({ id }) => id);
    const generations = await fetchGenerations(made, signal);
    const runs = await Promise.all(
      this.columns.map(({ id: node }) => {
        const id = generations.get(node)?.executionId;
        return id ? call("get", "/api/v1/executions/{id}", { params: { id }, signal }) : undefined;
      }),
    );
    this.columns = this.columns.map((column, index) => ({
      ...column,
      run: runs[index],
      generation: generations.get(column.id),
    }));
  }

  stop(): void {
    this.#abort?.abort();
  }
}

/** Length of the common prefix of all lists. */
export function commonOf(lists: readonly (readonly string[])[]): number {
  const [first = [], ...rest] = lists;
  let common = 0;
  while (common < first.length && rest.every((list) => list[common] === first[common])) common++;
  return common;
}
