// Summarizes the settings of a step for a folded section.
import type { Step } from "./definition";

export function rulesWords(step: Step): string {
  const { mode, condition, timeout } = step.execution ?? {};
  const waits = step.dependsOn ?? [];
  return [
    mode === "parallel" ? "in parallel" : "in order",
    waits.length > 0 && `waits for ${waits.join(", ")}`,
    condition && "conditional",
    timeout && `${timeout} s at most`,
    isApproved(step) && "a person approves",
    step.review?.expiresAfter && `expires after ${spanWords(step.review.expiresAfter)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** True if a person approves the call or nested run before it starts. A question to a person is no approval. */
export const isApproved = (step: Step): boolean => !step.ask && step.execution?.interactionMode === "manual";

export function faultsWords(step: Step): string {
  const said = [
    step.retry && `retried ${times(step.retry.maxRetries)}`,
    (step.abortWhen?.length ?? 0) > 0 && "may abort the process",
    (step.fallback?.length ?? 0) > 0 && `${count(step.fallback?.length ?? 0, "step")} as fallback`,
  ].filter(Boolean);
  if (said.length > 0) return said.join(" · ");
  return step.output.required === false ? "the process continues without it" : "the process fails";
}

export const offersWords = (step: Step): string =>
  (step.tools?.length ?? 0) === 0 ? "none" : count(step.tools?.length ?? 0, "tool");

export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
const times = (number: number) => (number === 1 ? "once" : `${number} times`);

export function spanWords(seconds: number): string {
  if (seconds % 86_400 === 0) return count(seconds / 86_400, "day");
  if (seconds % 3_600 === 0) return count(seconds / 3_600, "hour");
  if (seconds % 60 === 0) return `${seconds / 60} min`;
  return `${seconds} s`;
}
