// Tracks actions that are shown but not yet confirmed: reading the last action waits for them.
import { settledOrTimeout } from "./timeout";

const pending = new Set<Promise<unknown>>();

export function underway<T>(act: Promise<T>): Promise<T> {
  const done = () => void pending.delete(act);
  pending.add(act);
  act.then(done, done);
  return act;
}

/** Resolves when nothing that was begun so far is under way, or has been for too long. */
export async function allDone(): Promise<void> {
  if (pending.size > 0) await settledOrTimeout(Promise.allSettled(pending));
}
