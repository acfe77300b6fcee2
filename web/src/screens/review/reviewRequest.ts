// Words for a review request, its scopes, risks and decision.
import type { Schemas } from "../../api/client";
import type { JsonSchema } from "../../ui/jsonSchema";
import { SYSTEM } from "../catalog/kinds";
import type { Process, Step } from "../processes/definition";

interface AskedCall {
  toolId: string;
  /** The version that is called, where the step names one. */
  toolVersion?: number;
  inputs: Record<string, unknown>;
}
interface AskedProcess {
  processId: string;
  inputs: Record<string, unknown>;
}
export type ReviewRequest =
  | ({ kind: "call" } & AskedCall)
  | ({ kind: "wish"; name: string } & AskedCall)
  | { kind: "answer"; prompt: string; schema: JsonSchema }
  | ({ kind: "unknown" } & AskedCall)
  | ({ kind: "process" } & AskedProcess)
  | ({ kind: "unknownProcess" } & AskedProcess);
/** Scope of an approval. */
export type Scope = "once" | "run" | "sameArguments" | "always";
export type Decision =
  | { decision: "approve"; inputs?: Record<string, unknown>; scope?: Scope }
  | { decision: "deny"; reason?: string }
  | { decision: "answer"; value: unknown }
  | { decision: "ask"; question: string };
export interface ReviewView extends Omit<Schemas["ReviewView"], "asked" | "decision"> {
  asked: ReviewRequest;
  decision?: Decision | null;
}
export const asReview = (view: Schemas["ReviewView"]): ReviewView => view as unknown as ReviewView;

const TITLES: Record<ReviewRequest["kind"], string> = {
  call: "Approve a call",
  wish: "A model requests a tool call",
  answer: "A question for you",
  unknown: "Outcome of a call is unknown",
  process: "Approve a nested run",
  unknownProcess: "Outcome of a call in a nested run is unknown",
};
export const titleOf = (asked: ReviewRequest): string => TITLES[asked.kind];

/** One line for the list. */
export function briefOf(
  asked: ReviewRequest,
  toolName: (id: string) => string,
  processName?: string | null,
): string {
  if (asked.kind === "answer") return asked.prompt;
  const inputs = Object.entries(asked.inputs)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
  if ("processId" in asked) return `${processName ?? "a process"} · ${inputs}`;
  return `${toolName(asked.toolId)}${versionOf(asked)} · ${inputs}`;
}
/** True if the outcome of the call is unknown. */
export const isUnknown = ({ kind }: ReviewRequest): boolean =>
  kind === "unknown" || kind === "unknownProcess";
export const versionOf = ({ toolVersion }: AskedCall): string =>
  toolVersion ? `, version ${toolVersion}` : "";

/** The step of a process that asks; steps that stand in for others are counted after all of them. */
export function stepOf(process: Process, stepId: string): Step | undefined {
  const all = [...process.steps, ...process.steps.flatMap((step) => step.fallback ?? [])];
  const named = all.find((step) => step.id === stepId);
  const number = /^step (\d+)$/.exec(stepId)?.[1];
  return named ?? (number ? all[Number(number) - 1] : undefined);
}

/** Outcome if the review expires. */
export function expiryWords(step: Step | undefined): string {
  if (!step?.review) return "then the step ends without an answer";
  if (step.review.onExpire === "skip") return "then the step is skipped and the run continues";
  if (step.review.onExpire === "default")
    return `then this answer is used: ${JSON.stringify(step.review.default)}`;
  return "then the step fails";
}

/** Default scope of an approval: one call, or the run if the process asks once. */
export function usualScope(asked: ReviewRequest, step: Step | undefined): Scope {
  const offer =
    asked.kind === "wish" ? step?.tools?.find(({ toolId }) => toolId === asked.toolId) : undefined;
  return offer?.approval === "once" ? "run" : "once";
}

export const SCOPES: { value: Scope; label: string; hint: string }[] = [
  { value: "once", label: "This call only", hint: "The next call asks again." },
  {
    value: "sameArguments",
    label: "These arguments, in this run",
    hint: "Later calls with the same arguments need no approval.",
  },
  {
    value: "run",
    label: "This tool, in this run",
    hint: "Its later calls in this run need no approval.",
  },
  {
    value: "always",
    label: "This tool, always",
    hint: "Its calls need no approval in all your runs, until you revoke this or the tool changes.",
  },
];
/** * Scopes of an approval. A delegate cannot approve permanently, because that would apply to all runs of the owner. Nor can a
 * fixed version be approved permanently: a standing approval is for the latest version.
 */
export const scopesOf = ({
  askedBy,
  asked,
}: Partial<Pick<ReviewView, "askedBy" | "asked">>): typeof SCOPES => {
  const isPast = asked && "toolVersion" in asked && asked.toolVersion !== undefined;
  const isProcess = asked?.kind === "process";
  return askedBy || isPast || isProcess ? SCOPES.filter(({ value }) => value !== "always") : SCOPES;
};
export const scopeWords = (scope: Scope): string =>
  SCOPES.find(({ value }) => value === scope)?.label.toLowerCase() ?? scope;

interface Risky {
  operation: Record<string, unknown>;
  secretId?: string | null;
  ownerId: string;
}
export interface Risk {
  kind: "success" | "warning" | "note";
  label: string;
  title: string;
}
/** Risks of a call, as far as its tool tells. */
export function risksOf(tool: Risky | undefined, user: string | undefined): Risk[] {
  if (!tool) return [];
  const { type, method } = tool.operation;
  const isOurs = tool.ownerId === SYSTEM;
  const isSafe = type === "rest_call" && ["GET", "HEAD", "OPTIONS"].includes(String(method));
  const reads = isOurs || isSafe || type === "llm_call";
  const risks: Risk[] = [
    reads
      ? { kind: "success", label: "only reads", title: "This kind of call changes no data" }
      : { kind: "warning", label: "may change things", title: "Skein cannot undo this call" },
  ];
  if (tool.secretId)
    risks.push({
      kind: "note",
      label: "uses a secret",
      title: "The call uses a credential and may cost money",
    });
  if (user !== undefined && !isOurs && tool.ownerId !== user)
    risks.push({ kind: "note", label: "shared by another user", title: "Its owner can change this tool" });
  return risks;
}

/** True if it can be approved in bulk: a review that needs an answer cannot. */
export const isApprovable = ({ asked, status }: Pick<ReviewView, "asked" | "status">): boolean =>
  status === "open" && ["call", "wish", "process"].includes(asked.kind);

/** Only a model can answer, and what it says is its owner's to hear. */
export const canAskBack = ({
  asked,
  askedBy,
}: Pick<ReviewView, "asked"> & Partial<Pick<ReviewView, "askedBy">>): boolean =>
  asked.kind === "wish" && !askedBy;
export const QUESTION_MAX = 4000;

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

/** In whose hands a question is or was, in a few words; nothing where it is its owner's alone. */
export function handsWords({
  askedBy,
  delegate,
  decidedBy,
}: Partial<Pick<ReviewView, "askedBy" | "delegate" | "decidedBy">>): string | undefined {
  if (askedBy) return `${askedBy.name} asks you`;
  if (!delegate) return undefined;
  return decidedBy?.id === delegate.id ? `${delegate.name} decided` : `${delegate.name} was asked`;
}

export function decisionWords(decision: Decision | null | undefined, status: string): string {
  if (!decision)
    return status === "expired" ? "Expired without a decision." : "Withdrawn because the run ended.";
  if (decision.decision === "deny") return decision.reason ? `Denied: ${decision.reason}` : "Denied.";
  if (decision.decision === "answer") return "Answered.";
  if (decision.decision === "ask") return `Question to the model: ${decision.question || "redacted"}`;
  const reach = decision.scope && decision.scope !== "once" ? ` For ${scopeWords(decision.scope)}.` : "";
  return (decision.inputs ? "Approved with other arguments." : "Approved.") + reach;
}
