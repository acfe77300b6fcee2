// Nobody waits for ever for an answer that may never come.
const PATIENCE_MS = 10_000;

/** Resolves when the work has, or when it has taken too long. */
export const waitedFor = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
