// What answers cost, as far as it is known.
import { all, call, type Schemas } from "../api/client";

type Spending = Schemas["SpendingView"];
/** Most runs that are looked at to say what an answer cost. */
const RUNS_MAX = 2_000;

/** The run that made each of these nodes, newest first where there are several. */
export async function runsOf(
  conversation: string,
  nodes: readonly string[],
): Promise<Map<string, Schemas["ExecutionView"]>> {
  const found = new Map<string, Schemas["ExecutionView"]>();
  const query = { conversationId: conversation, limit: 1000 };
  const runs = await all(
    (cursor) => call("get", "/api/v1/executions", { query: { ...query, cursor } }),
    RUNS_MAX,
  );
  const wanted = new Set(nodes);
  for (const run of runs)
    if (run.nodeId && wanted.has(run.nodeId) && !found.has(run.nodeId)) found.set(run.nodeId, run);
  return found;
}

/** Sums by currency; `unknown` counts those of which nothing, or not all, is known. */
export function summed(spendings: readonly (Spending | null | undefined)[]): {
  owed: Map<string, number>;
  unknown: number;
} {
  const owed = new Map<string, number>();
  let unknown = 0;
  for (const one of spendings) {
    if (!one?.isComplete) unknown += 1;
    for (const { amount, currency } of one?.owed ?? [])
      owed.set(currency, (owed.get(currency) ?? 0) + Number(amount));
  }
  return { owed, unknown };
}

/** As people read it: "0.0042 USD". */
export const shownAmount = (amount: number, currency: string): string =>
  `${amount.toLocaleString("en-GB", { maximumSignificantDigits: 3 })} ${currency}`;
