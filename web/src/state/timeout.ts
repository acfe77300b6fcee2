// Nobody waits for ever for an answer that may never come.
const TIMEOUT_MS = 10_000;

/** Resolves when the work has, or when it has taken too long. */
export const settledOrTimeout = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS))]);
