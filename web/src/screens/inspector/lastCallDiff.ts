// Compares the context of the next call with that of the last call on this path.
import { call, send, type Schemas } from "../../api/client";
import { fetchGenerations } from "../../state/cost";
import { labelOf, type Part } from "./contextWindow";

/** Context of a call, as its record has it. */
export interface CallContext {
  totalTokens: number;
  parts: Part[];
}
export interface LastCall extends CallContext {
  /** The answer that came of it. */
  node: string;
  run: string;
}
export interface Change {
  kind: "in" | "out" | "changed";
  part: Part;
  before: number;
  after: number;
}
export interface Difference {
  changes: Change[];
  /** Parts that were told then and would be told now, alike. */
  same: number;
  tokens: number;
}

/** Keys parts by kind and node, or by order if they have no node. */
function keyed(parts: readonly Part[]): Map<string, Part> {
  const counts = new Map<string, number>();
  const found = new Map<string, Part>();
  for (const part of parts.filter(({ included }) => included)) {
    const count = (counts.get(part.kind) ?? 0) + 1;
    counts.set(part.kind, count);
    found.set(`${part.kind} ${part.nodeId ?? count}`, part);
  }
  return found;
}

export function differenceOf(before: CallContext, after: CallContext): Difference {
  const [old, now] = [keyed(before.parts), keyed(after.parts)];
  const changes: Change[] = [];
  let same = 0;
  for (const [key, part] of old)
    if (!now.has(key)) changes.push({ kind: "out", part, before: part.tokens, after: 0 });
  for (const [key, part] of now) {
    const earlier = old.get(key);
    if (!earlier) changes.push({ kind: "in", part, before: 0, after: part.tokens });
    else if (earlier.tokens === part.tokens) same += 1;
    else changes.push({ kind: "changed", part, before: earlier.tokens, after: part.tokens });
  }
  return { changes, same, tokens: after.totalTokens - before.totalTokens };
}

const WORDS: Record<Change["kind"], string> = { in: "Added", out: "Removed", changed: "Changed" };
export const changeWords = ({ kind }: Change): string => WORDS[kind];
export const changeLabel = ({ part }: Change): string => labelOf(part);
export const signed = (tokens: number): string =>
  `${tokens < 0 ? "−" : "+"}${Math.abs(tokens).toLocaleString("en-GB")}`;

interface RecordedCall {
  messages?: unknown;
  report?: CallContext;
}

/** The last call on a path that ended in an answer; undefined where there was none, or it did not use our context. */
export async function lastCall(
  path: readonly Schemas["NodeView"][],
  signal: AbortSignal,
): Promise<LastCall | undefined> {
  const answer = path.findLast(({ authorType, status }) => authorType !== "human" && status === "complete");
  if (!answer) return undefined;
  const run = (await fetchGenerations([answer.id], signal)).get(answer.id)?.executionId;
  if (!run) return undefined;
  const whole = await call("get", "/api/v1/executions/{id}", { params: { id: run }, signal });
  for (const { result } of whole.calls.toReversed()) {
    const report = (await outputOf(result?.result, signal))?.report;
    if (report) return { node: answer.id, run, totalTokens: report.totalTokens, parts: report.parts };
  }
  return undefined;
}

/** A large output is kept apart from its result. */
async function outputOf(
  result: Record<string, unknown> | undefined,
  signal: AbortSignal,
): Promise<RecordedCall | undefined> {
  if (typeof result?.outputId !== "string") return asReported(result?.output);
  const answer = await send(`/api/v1/items/${result.outputId}/payload`, { method: "GET", signal });
  return asReported(await answer.json().catch(() => undefined));
}
const asReported = (output: unknown): RecordedCall | undefined =>
  output !== null && typeof output === "object" ? output : undefined;
