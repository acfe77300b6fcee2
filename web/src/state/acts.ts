// What is shown at once and still on its way to the server: whoever asks what was done last waits for it.

/** Nobody waits longer than this for an answer that may never come. */
const PATIENCE_MS = 10_000;
const underWay = new Set<Promise<unknown>>();

export function underway<T>(act: Promise<T>): Promise<T> {
  const done = () => void underWay.delete(act);
  underWay.add(act);
  act.then(done, done);
  return act;
}

/** Resolves when nothing that was begun so far is under way, or has been for too long. */
export async function allDone(): Promise<void> {
  if (underWay.size === 0) return;
  const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([Promise.allSettled(underWay), patience]);
}
