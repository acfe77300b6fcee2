// Work that goes on after the answer: asked after until it has ended.
import { call, isAbort, type Schemas } from "./client";
import { Problem } from "./problem";

export type Operation = Schemas["OperationView"];
const WAIT_FIRST_MS = 80;
const WAIT_LAST_MS = 1_000;

export const isEnded = (operation: Operation): boolean =>
  ["completed", "failed", "cancelled"].includes(operation.status);

/** The operation once it has ended; told on the way how far it is. */
export async function ended(
  id: string,
  { signal, heard }: { signal?: AbortSignal; heard?: (operation: Operation) => void } = {},
): Promise<Operation> {
  for (let wait = WAIT_FIRST_MS; ; wait = Math.min(wait * 1.5, WAIT_LAST_MS)) {
    const operation = await call("get", "/api/v1/operations/{id}", { params: { id }, signal });
    heard?.(operation);
    if (isEnded(operation)) return operation;
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal?.aborted) throw new DOMException("aborted", "AbortError");
  }
}

export async function cancel(id: string): Promise<void> {
  try {
    await call("post", "/api/v1/operations/{id}/cancel", { params: { id } });
  } catch (error) {
    // An operation that ended meanwhile cannot be cancelled and need not be.
    if (!isAbort(error) && !(error instanceof Problem && error.status === 409)) throw error;
  }
}
