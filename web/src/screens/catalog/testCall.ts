// A real call of a tool: made once, followed to its end, told in full.
import { call } from "../../api/client";
import { ended, type Operation } from "../../api/operation";

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  isEstimate: boolean;
}
/** Result of a test call as the server returns it, completed or failed. */
export interface Outcome {
  ok: boolean;
  cancelled: boolean;
  message?: string;
  code?: string;
  latencyMs?: number;
  output?: unknown;
  request?: unknown;
  response?: unknown;
  usage?: Usage | null;
}

export function outcomeOf(operation: Operation): Outcome {
  const ok = operation.status === "completed";
  const told = ((ok ? operation.result : operation.error) ?? {}) as Omit<Outcome, "ok" | "cancelled">;
  return { ...told, ok, cancelled: operation.status === "cancelled" };
}

/** The text a model answered with, if that is what came back. */
export function textOf(output: unknown): string | undefined {
  const text = (output as { text?: unknown } | null | undefined)?.text;
  return typeof text === "string" ? text : typeof output === "string" ? output : undefined;
}

export async function tryTool(
  id: string,
  inputs: Record<string, unknown>,
  manner: { signal?: AbortSignal; begun?: (operationId: string) => void } = {},
): Promise<Outcome> {
  const accepted = await call("post", "/api/v1/tools/{id}/test", { params: { id }, body: { inputs } });
  manner.begun?.(accepted.operationId);
  return outcomeOf(await ended(accepted.operationId, { signal: manner.signal }));
}
