// Limits the wait for a response that may never come.
const TIMEOUT_MS = 10_000;

/** Resolves when the work has settled, or after the timeout. */
export const settledOrTimeout = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS))]);
