// The words of one run as a model says them. A break is healed from the last piece heard, so nothing is lost or doubled.
import { isAbort } from "./client";
import { asProblem, Problem } from "./problem";
import { messages } from "./sse";

export interface Listener {
  /** More text; the listener keeps the whole. */
  text: (piece: string) => void;
  /** The model restarts: earlier text is discarded. */
  reset: (text: string) => void;
  /** The run ended with this status. */
  end: (status: string) => void;
  /** It cannot be heard any more. */
  problem: (problem: Problem) => void;
}

/** Connections for words at once; a browser has six for everything. */
const AT_ONCE_MAX = 3;
const RETRY_MS = 700;
let open = 0;
const waiting: (() => void)[] = [];

/** Listens to a run; gives back how to stop. */
export function listen(executionId: string, listener: Listener): () => void {
  const stop = new AbortController();
  void follow(executionId, listener, stop.signal);
  return () => stop.abort();
}

async function follow(executionId: string, listener: Listener, signal: AbortSignal): Promise<void> {
  await place(signal);
  try {
    let last: string | undefined;
    while (!signal.aborted) {
      try {
        for await (const { event, data, id } of messages(
          `/api/v1/executions/${executionId}/stream`,
          last,
          signal,
        )) {
          if (signal.aborted) return;
          last = id ?? last;
          const told = JSON.parse(data) as { text?: string; status?: string };
          if (event === "text") listener.text(told.text ?? "");
          if (event === "reset") listener.reset(told.text ?? "");
          if (event === "end") return listener.end(told.status ?? "completed");
        }
      } catch (error) {
        if (isAbort(error) || signal.aborted) return;
        const problem = asProblem(error);
        if (problem.status >= 400 && problem.status < 500 && problem.status !== 429)
          return listener.problem(problem);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } finally {
    open -= 1;
    waiting.shift()?.();
  }
}

async function place(signal: AbortSignal): Promise<void> {
  while (open >= AT_ONCE_MAX && !signal.aborted) await new Promise<void>((resolve) => waiting.push(resolve));
  open += 1;
}
