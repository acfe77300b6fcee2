// Metrics of an answer; an unknown value is a dash, never a zero.
import type { Column } from "./comparison.svelte";
import { tokensOf } from "../../state/generation";
import { costWords } from "../../state/cost";
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

export function metricsOf({ node, run, generation }: Column): Metric[] {
  const text = textOf(node?.content);
  return [
    { label: "Words", shown: node ? wordCount(text).toLocaleString() : NONE },
    { label: "Tokens", shown: (generation && tokensOf(generation)?.toLocaleString()) ?? NONE },
    { label: "Duration", shown: run ? durationOf(run.startedAt, run.endedAt) : NONE },
    { label: "Cost", shown: costWords(generation?.cost) ?? NONE },
  ];
}
