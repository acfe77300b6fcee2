// Lists are read again whenever something changes, and an answer that was asked for earlier may come later.

/** Numbers requests: only the response to the latest one counts. */
export class LatestRequest {
  #asked = 0;
  ask(): () => boolean {
    const own = ++this.#asked;
    return () => own === this.#asked;
  }
}

/** Does something whenever it is asked to, one at a time: however often it is asked meanwhile, it is done once more. */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let isWanted = false;
  let underWay: Promise<void> | undefined;
  async function go() {
    try {
      while (isWanted) {
        isWanted = false;
        await work();
      }
    } finally {
      underWay = undefined;
    }
  }
  return () => {
    isWanted = true;
    return (underWay ??= go());
  };
}
