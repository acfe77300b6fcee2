// Running work for the status bar and the rail: runs, operations and open reviews.
import { call, type Schemas } from "../api/client";
import { onProgress, onResync, onServerEvent, type ServerEvent } from "../api/events";
import { LatestRequest } from "./latestRequest";

export type Run = Schemas["ExecutionView"];
const REFRESH_WAIT_MS = 150;
const SHOWN_MAX = 100;
const LOOK_WAIT_MS = 2_000;
/** With these an operation that told its progress has ended. */
const ENDS = new Set(["verification.completed", "verification.failed", "operation.cancelled", "import.made"]);

/** A delegated review waits for its delegate. */
export const waitsForMe = ({
  askedBy,
  delegate,
}: Pick<Schemas["ReviewView"], "askedBy" | "delegate">): boolean => Boolean(askedBy) || !delegate;

class Jobs {
  runs = $state.raw<Run[]>([]);
  reviews = $state.raw<Schemas["ReviewView"][]>([]);
  /** Number of calls of these runs that wait for a worker. */
  waiting = $state(0);
  /** Percent of operations that tell it. */
  operations = $state.raw<ReadonlyMap<string, number>>(new Map());
  #timer: ReturnType<typeof setTimeout> | undefined;
  #look: ReturnType<typeof setTimeout> | undefined;
  #queue: ReturnType<typeof setTimeout> | undefined;
  #newest = new LatestRequest();
  /** Ended operations: later progress events about them are outdated. */
  #over = new Set<string>();

  get pendingReviews(): number {
    return this.reviews.filter(waitsForMe).length;
  }

  start(): () => void {
    const stops = [
      onServerEvent((told) => this.#told(told)),
      onResync(() => this.#soon()),
      onProgress(({ operationId, progress }) => {
        if (this.#over.has(operationId)) return;
        const next = new Map(this.operations);
        if (progress >= 100) next.delete(operationId);
        else next.set(operationId, Math.max(progress, next.get(operationId) ?? 0));
        this.operations = next;
        this.#watch();
      }),
    ];
    void this.refresh();
    return () => stops.forEach((stop) => stop());
  }

  /** The run that makes this node, if one does. */
  runOf(nodeId: string): Run | undefined {
    return this.runs.find((run) => run.nodeId === nodeId);
  }

  async refresh(): Promise<void> {
    const isNewest = this.#newest.ask();
    try {
      const [running, reviews, queue] = await Promise.all([
        call("get", "/api/v1/executions", { query: { status: "running", limit: SHOWN_MAX } }),
        call("get", "/api/v1/reviews", { query: { status: "open", limit: SHOWN_MAX } }),
        call("get", "/api/v1/queue"),
      ]);
      if (!isNewest()) return;
      this.runs = running.data;
      this.reviews = reviews.data;
      this.waiting = queue.waiting;
      this.#lookAgain();
    } catch {
      // The status bar shows the connection; what was known stays.
    }
  }

  /** An end may be missed, and is never told as progress: what shows none for a while is asked after. */
  #watch(): void {
    clearTimeout(this.#look);
    if (this.operations.size > 0) this.#look = setTimeout(() => void this.#drop(), LOOK_WAIT_MS);
  }
  async #drop(): Promise<void> {
    const asked = [...this.operations.keys()].map((id) =>
      call("get", "/api/v1/operations/{id}", { params: { id } }).then(
        ({ status }) => (status === "queued" || status === "processing" ? undefined : id),
        ({ status }: { status?: number }) => (status === 404 ? id : undefined),
      ),
    );
    for (const id of await Promise.all(asked)) if (id !== undefined) this.#over.add(id);
    this.operations = new Map([...this.operations].filter(([id]) => !this.#over.has(id)));
    this.#watch();
  }

  /** That a worker takes something up is not told: while anything waits, it is asked again. */
  #lookAgain(): void {
    clearTimeout(this.#queue);
    if (this.waiting > 0) this.#queue = setTimeout(() => void this.refresh(), LOOK_WAIT_MS);
  }

  #told({ event }: ServerEvent): void {
    if (ENDS.has(event)) void this.#drop();
    if (event.startsWith("execution.") || event.startsWith("review.")) this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh();
    }, REFRESH_WAIT_MS);
  }
}

export const jobs = new Jobs();
