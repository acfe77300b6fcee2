// What is shown at once and still on its way to the server: whoever asks what was done last waits for it.

const underWay = new Set<Promise<unknown>>();

export function underway<T>(act: Promise<T>): Promise<T> {
  const done = () => void underWay.delete(act);
  underWay.add(act);
  act.then(done, done);
  return act;
}

/** Resolves when nothing that was begun so far is under way. */
export async function allDone(): Promise<void> {
  await Promise.allSettled(underWay);
}
