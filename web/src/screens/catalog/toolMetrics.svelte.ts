// Recent metrics of tools in the user's own runs; fetched for tools in sight and again when runs end.
import { call, type Schemas } from "../../api/client";
import { LatestRequest } from "../../state/latestRequest";
import { onRelevantEvent } from "../inspector/resource.svelte";

export type ToolMetrics = Schemas["ToolMetricsView"];
const AT_ONCE = 100;
const CONCERNS = /^execution\.(completed|failed|cancelled)/;

class Metrics {
  #of = $state.raw<ReadonlyMap<string, ToolMetrics>>(new Map());
  problem = $state.raw<unknown>();
  #wanted: readonly string[] = [];
  #newest = new LatestRequest();

  of = (tool: string): ToolMetrics | undefined => this.#of.get(tool);

  /** For an `$effect`: asks about these, as long as they are shown. */
  watch(tools: readonly string[]): () => void {
    this.#wanted = tools;
    void this.again();
    return onRelevantEvent(({ event }) => CONCERNS.test(event), this.again);
  }
  again = async (): Promise<void> => {
    const isNewest = this.#newest.ask();
    const found = new Map<string, ToolMetrics>();
    try {
      for (let from = 0; from < this.#wanted.length; from += AT_ONCE) {
        const toolIds = this.#wanted.slice(from, from + AT_ONCE).join(",");
        const { data } = await call("get", "/api/v1/tools/metrics", { query: { toolIds } });
        for (const one of data) found.set(one.toolId, one);
      }
      if (!isNewest()) return;
      this.#of = found;
      this.problem = undefined;
    } catch (error) {
      if (isNewest()) this.problem = error;
    }
  };
}
export const toolMetrics = new Metrics();

/** A share of 100 without needless digits. */
export const shownPercent = (percent: number): string =>
  `${percent > 99 && percent < 100 ? percent.toFixed(1) : Math.round(percent)} %`;
/** True if the failure rate needs attention. */
export const isPoor = ({ calls, successPercent }: ToolMetrics): boolean =>
  calls >= 3 && (successPercent ?? 100) < 90;
