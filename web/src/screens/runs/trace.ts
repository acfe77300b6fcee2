// A run as rows: the run, its steps, the calls they made, the runs they started. One shape for tree and timeline.
import type { Schemas } from "../../api/client";
import { standingOf } from "./status";

export type RunView = Schemas["ExecutionView"];
export type Call = Schemas["CallView"];
export type Moment = Schemas["MomentView"];
export interface Fault {
  code: string;
  message: string;
  retryable?: boolean;
  stepId?: string;
  suggestedAction?: string;
  details?: Record<string, unknown>;
}
/** A step as the server tells it. The API document describes something else under the same name. */
export interface RunStep {
  id: string;
  phase: string;
  attempts: number;
  inputs: Record<string, unknown>;
  output: unknown;
  error: Fault | null;
  tokens: number;
  callId: string | null;
  rawResponseId: string | null;
  startedAt: string | null;
  endedAt: string | null;
}
export interface WholeRun extends Omit<Schemas["WholeExecutionView"], "steps" | "children" | "error"> {
  error?: Fault | null;
  steps: RunStep[];
  children: WholeRun[];
}

export type Thing =
  | { kind: "run"; run: WholeRun }
  | { kind: "step"; step: RunStep; run: WholeRun }
  | { kind: "call"; call: Call; run: WholeRun };
export interface TraceRow {
  id: string;
  level: number;
  label: string;
  detail?: string;
  status: string;
  start?: number;
  end?: number;
  expanded?: boolean;
  setSize?: number;
  position?: number;
  /** An earlier run did it: it has no time in this one. */
  isTakenOver?: boolean;
  thing: Thing;
}
/** Input of every view of a trace. */
export interface TraceProps {
  rows: TraceRow[];
  now: number;
  selected?: string;
  onselect: (row: TraceRow) => void;
}

const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : undefined);
const resultOf = (call: Call): Record<string, unknown> => call.result?.result ?? {};
export const statusOfCall = (call: Call): string =>
  call.result ? String(resultOf(call).status ?? "returned") : "calling";

const hasResult = (call: Call): boolean => Boolean(call.result);

/** True if the output of a step is reused from the run this one was branched from. */
export const isTakenOver = (run: WholeRun, { endedAt }: RunStep): boolean =>
  endedAt !== null && Date.parse(endedAt) < Date.parse(run.startedAt);

/** Every row in order; what is folded hides what is below it. */
export function rowsOf(
  run: WholeRun,
  folded: ReadonlySet<string>,
  toolName: (id: string) => string,
): TraceRow[] {
  const rows: TraceRow[] = [];
  const put = (row: TraceRow, below: (() => void)[]) => {
    const isFolded = folded.has(row.id);
    rows.push({ ...row, expanded: below.length > 0 ? !isFolded : undefined });
    if (!isFolded) below.forEach((add) => add());
  };
  const addRun = (one: WholeRun, level: number) => {
    const steps = one.steps.map((step, at) => () => addStep(one, step, at, level + 1));
    put(
      {
        id: one.id,
        level,
        label: one.processName,
        detail: `version ${one.processVersion}`,
        status: standingOf(one),
        start: timeOf(one.startedAt),
        end: timeOf(one.endedAt),
        thing: { kind: "run", run: one },
      },
      steps,
    );
  };
  const addStep = (one: WholeRun, step: RunStep, at: number, level: number) => {
    const isKept = isTakenOver(one, step);
    const calls = one.calls.filter((call) => call.stepId === step.id);
    const children = one.children.filter((child) => child.parentStep === at + 1);
    const below = [
      ...calls.map((call) => () => addCall(one, call, level + 1)),
      ...children.map((child) => () => addRun(child, level + 1)),
    ];
    put(
      {
        id: `${one.id}/${step.id}`,
        level,
        label: step.id,
        detail: isKept ? "reused" : step.attempts > 1 ? `${step.attempts} calls` : undefined,
        status: one.pausedAt && step.phase === "calling" && calls.every(hasResult) ? "held" : step.phase,
        start: isKept ? undefined : timeOf(step.startedAt),
        end: isKept ? undefined : timeOf(step.endedAt),
        isTakenOver: isKept || undefined,
        setSize: one.steps.length,
        position: at + 1,
        thing: { kind: "step", step, run: one },
      },
      below,
    );
  };
  const addCall = (one: WholeRun, call: Call, level: number) =>
    put(
      {
        id: call.id,
        level,
        label: toolName(String(call.call.toolId ?? "")),
        detail: call.call.caller === "model" ? "requested by the model" : undefined,
        status: statusOfCall(call),
        start: timeOf(call.requestedAt),
        end: timeOf(call.result?.returnedAt),
        thing: { kind: "call", call, run: one },
      },
      [],
    );
  addRun(run, 1);
  return rows;
}

/** The runs from the outermost to the one that is named, each having started the next. */
export function pathTo(run: WholeRun, id: string): WholeRun[] {
  if (run.id === id) return [run];
  for (const child of run.children) {
    const below = pathTo(child, id);
    if (below.length > 0) return [run, ...below];
  }
  return [];
}

/** A kept step: a run can be restarted at it, which repeats the step. */
export interface Checkpoint {
  step: RunStep;
  at: number;
  /** In one line. */
  gave: string;
  isTakenOver: boolean;
}
const BRIEF_MAX = 200;
export function checkpointsOf(run: WholeRun): Checkpoint[] {
  return run.steps
    .filter(({ phase, endedAt }) => (phase === "done" || phase === "skipped") && endedAt)
    .map((step) => ({
      step,
      at: Date.parse(step.endedAt ?? ""),
      gave: briefOf(step),
      isTakenOver: isTakenOver(run, step),
    }))
    .sort((one, other) => one.at - other.at);
}
function briefOf({ output, phase }: RunStep): string {
  if (phase === "skipped") return "skipped";
  const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
  return text.slice(0, BRIEF_MAX);
}

export interface Numbers {
  tokens: number;
  /** Nothing if nobody told one. */
  cost?: number;
  calls: number;
  retries: number;
}
/** Number of retries of a step: failed calls followed by another. Rounds of a model do not count. */
export function retriesOf(run: WholeRun, step: RunStep): number {
  const calls = run.calls.filter(({ stepId, call }) => stepId === step.id && call.caller !== "model");
  return calls.slice(0, -1).filter((call) => statusOfCall(call) !== "success").length;
}
/** Usage of a run and its sub-runs. */
export function numbersOf(run: WholeRun): Numbers {
  const own: Numbers = {
    tokens: run.tokens || run.steps.reduce((sum, step) => sum + step.tokens, 0),
    calls: run.calls.length,
    retries: run.steps.reduce((sum, step) => sum + retriesOf(run, step), 0),
  };
  for (const call of run.calls) {
    const cost = costOf(call);
    if (cost !== undefined) own.cost = (own.cost ?? 0) + cost;
  }
  for (const child of run.children) {
    const inner = numbersOf(child);
    own.calls += inner.calls;
    own.retries += inner.retries;
    if (inner.cost !== undefined) own.cost = (own.cost ?? 0) + inner.cost;
  }
  return own;
}

export function costOf(call: Call): number | undefined {
  const { cost } = resultOf(call);
  if (typeof cost === "number") return cost;
  const amount =
    (cost as { amount?: unknown; usd?: unknown } | null)?.amount ?? (cost as { usd?: unknown } | null)?.usd;
  return typeof amount === "number" ? amount : undefined;
}

export function spanOf(rows: readonly TraceRow[], now: number): { start: number; end: number } {
  let start = Number.POSITIVE_INFINITY;
  for (const row of rows) start = Math.min(start, row.start ?? start);
  if (!Number.isFinite(start)) return { start: now, end: now + 1 };
  let end = start + 1;
  for (const row of rows) end = Math.max(end, row.end ?? (row.start === undefined ? start : now));
  return { start, end };
}

/** Round marks over a span, six or so, as milliseconds from its start. */
export function ticksOf(length: number): number[] {
  const rough = length / 6;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? power * 10;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}

export function shownSpan(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((milliseconds % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
export const shownCost = (cost: number | undefined): string =>
  cost === undefined ? "—" : `$${cost.toFixed(4)}`;

const NAMES: Record<string, string> = {
  began: "began",
  called: "called a tool",
  returned: "completed a call",
  asked: "asked a person",
  decided: "received a decision",
  ended: "ended",
};
export const momentWords = (moment: Moment): string => NAMES[moment.what] ?? moment.what;
