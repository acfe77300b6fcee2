// What is known of how an answer was made; what is not known is a dash, never a zero.
import type { Column } from "./compared.svelte";
import { shownAmount, summed } from "../../state/spending";
import { textOf } from "../inspector/content";

export interface Metric {
  label: string;
  shown: string;
}
const NONE = "—";

export function wordCount(text: string): number {
  return text.trim() === "" ? 0 : text.trim().split(/\s+/).length;
}

export function durationOf(startedAt: string, endedAt: string | null | undefined): string {
  if (!endedAt) return NONE;
  const milliseconds = Date.parse(endedAt) - Date.parse(startedAt);
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Nothing is said to cost nothing unless that is known. */
function costOf(cost: Column["cost"]): string {
  if (!cost) return NONE;
  const { owed, unknown } = summed([cost]);
  const amounts = [...owed].map(([currency, amount]) => shownAmount(amount, currency));
  if (unknown > 0) return amounts.length > 0 ? `${amounts.join(" + ")} or more` : NONE;
  return amounts.length > 0 ? amounts.join(" + ") : "nothing";
}

export function metricsOf({ node, run, cost }: Column): Metric[] {
  const text = textOf(node?.content);
  return [
    { label: "Words", shown: node ? wordCount(text).toLocaleString() : NONE },
    { label: "Tokens", shown: run ? run.tokens.toLocaleString() : NONE },
    { label: "Took", shown: run ? durationOf(run.startedAt, run.endedAt) : NONE },
    { label: "Cost", shown: costOf(cost) },
  ];
}
