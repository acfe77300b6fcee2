// Cost of answers, as far as known.
import { call, type Schemas } from "../api/client";

type Spending = Schemas["SpendingView"];
/** Most answers that can be asked about at once. */
const AT_ONCE = 100;

/** Fetches the generation of each node: run, tokens, cost and calls. */
export async function fetchGenerations(
  nodes: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Schemas["GenerationView"]>> {
  const found = new Map<string, Schemas["GenerationView"]>();
  for (let first = 0; first < nodes.length; first += AT_ONCE) {
    const nodeIds = nodes.slice(first, first + AT_ONCE).join(",");
    const { data } = await call("get", "/api/v1/generations", { query: { nodeIds }, signal });
    for (const generation of data) found.set(generation.nodeId, generation);
  }
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

/** Cost in words; undefined if unknown. Only a known zero is shown as nothing. */
export function costWords(cost: Spending | null | undefined): string | undefined {
  if (!cost) return undefined;
  const { owed, unknown } = summed([cost]);
  const amounts = [...owed].map(([currency, amount]) => shownAmount(amount, currency));
  if (unknown > 0) return amounts.length > 0 ? `${amounts.join(" + ")} or more` : undefined;
  return amounts.length > 0 ? amounts.join(" + ") : "nothing";
}
