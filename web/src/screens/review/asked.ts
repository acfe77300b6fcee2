// What a review asks, in words, and what follows from what.
import type { Schemas } from "../../api/client";
import type { JsonSchema } from "../../ui/jsonSchema";
import type { Process, Step } from "../processes/definition";

export type Asked =
  | { kind: "call"; toolId: string; inputs: Record<string, unknown> }
  | { kind: "wish"; toolId: string; name: string; inputs: Record<string, unknown> }
  | { kind: "answer"; prompt: string; schema: JsonSchema }
  | { kind: "unknown"; toolId: string; inputs: Record<string, unknown> };
export type Decision =
  | { decision: "approve"; inputs?: Record<string, unknown> }
  | { decision: "deny"; reason?: string }
  | { decision: "answer"; value: unknown };
export interface ReviewView extends Omit<Schemas["ReviewView"], "asked" | "decision"> {
  asked: Asked;
  decision?: Decision | null;
}
export const asReview = (view: Schemas["ReviewView"]): ReviewView => view as unknown as ReviewView;

const TITLES: Record<Asked["kind"], string> = {
  call: "Approve a call",
  wish: "A model wants to call a tool",
  answer: "A question for you",
  unknown: "Nobody saw how this call ended",
};
export const titleOf = (asked: Asked): string => TITLES[asked.kind];

/** One line for the list. */
export function briefOf(asked: Asked, toolName: (id: string) => string): string {
  if (asked.kind === "answer") return asked.prompt;
  const inputs = Object.entries(asked.inputs)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
  return `${toolName(asked.toolId)} · ${inputs}`;
}

/** The step of a process that asks; steps that stand in for others are counted after all of them. */
export function stepOf(process: Process, stepId: string): Step | undefined {
  const all = [...process.steps, ...process.steps.flatMap((step) => step.fallback ?? [])];
  const named = all.find((step) => step.id === stepId);
  const number = /^step (\d+)$/.exec(stepId)?.[1];
  return named ?? (number ? all[Number(number) - 1] : undefined);
}

/** What happens if nobody decides in time. */
export function expiryWords(step: Step | undefined): string {
  if (!step?.review) return "then the step is over without an answer";
  if (step.review.onExpire === "skip") return "then the step is skipped and the run goes on";
  if (step.review.onExpire === "default") return `then this is taken: ${JSON.stringify(step.review.default)}`;
  return "then the step fails";
}

/** How far an approval reaches: it is for one call, unless the process says that asking once is enough. */
export function reachOf(asked: Asked, step: Step | undefined): { words: string; isWide: boolean } {
  const offer =
    asked.kind === "wish" ? step?.tools?.find(({ toolId }) => toolId === asked.toolId) : undefined;
  if (offer?.approval === "once")
    return { isWide: true, words: "This call, and every later call of this tool by this step in this run" };
  return { isWide: false, words: "This call only, with these arguments" };
}

/** A form is made for objects; anything else is asked for as one value. */
export function formSchema(schema: JsonSchema): { schema: JsonSchema; isWrapped: boolean } {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" && schema.properties) return { schema, isWrapped: false };
  const inner: JsonSchema = { ...schema, title: schema.title ?? "Answer" };
  if (type === "string" && schema.maxLength === undefined && !schema.enum) inner.format = "multiline";
  return { schema: { type: "object", properties: { answer: inner }, required: ["answer"] }, isWrapped: true };
}

export function leftWords(milliseconds: number): string {
  if (milliseconds <= 0) return "expired";
  const seconds = Math.floor(milliseconds / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor((seconds % 86_400) / 3_600),
    Math.floor((seconds % 3_600) / 60),
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  if (minutes > 0) return `${minutes} min ${seconds % 60} s`;
  return `${seconds} s`;
}

export function decisionWords(decision: Decision | null | undefined, status: string): string {
  if (!decision) return status === "expired" ? "Nobody decided in time." : "It was withdrawn: the run ended.";
  if (decision.decision === "deny") return decision.reason ? `Denied: ${decision.reason}` : "Denied.";
  if (decision.decision === "answer") return "Answered.";
  return decision.inputs ? "Approved with other arguments." : "Approved.";
}
