// Reads failed jobs and describes them.
import { all, call, type Schemas } from "../../api/client";
import { OPERATION_NAMES } from "../catalog/kinds";

export type DeadJob = Schemas["DeadJobView"];

const PAGE = 1_000;
/** Upper limit of jobs read: with that many, their common cause matters. */
export const MOST = 5_000;

/** All of them, those that were put aside last first. */
export async function readPutAside(): Promise<DeadJob[]> {
  const found = await all(
    (cursor) => call("get", "/api/v1/queue/dead", { query: { cursor, limit: PAGE } }),
    MOST,
  );
  return found.sort((a, b) => Date.parse(b.diedAt) - Date.parse(a.diedAt));
}

const BACKGROUND: Record<string, string> = {
  summaries: "Summary",
  catalogue: "Test call",
  operations: "Operation",
  telemetry: "Telemetry",
};
export const workOf = ({ queue }: Pick<DeadJob, "queue">): string =>
  OPERATION_NAMES[queue] ?? BACKGROUND[queue] ?? queue;

/** Number of attempts and their outcome. */
export function triesOf({ step, attempts, lost }: Pick<DeadJob, "step" | "attempts" | "lost">): string {
  const times = (count: number) => (count === 1 ? "once" : `${count} times`);
  return [
    typeof step === "number" ? `step ${step + 1}` : "",
    attempts > 0 ? `tried ${times(attempts)}` : "never started",
    lost > 0 ? `its worker vanished ${times(lost)}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** A run of somebody else is theirs to open. */
export const runOf = (job: Pick<DeadJob, "executionId" | "reason">): string | undefined =>
  typeof job.reason === "string" ? (job.executionId ?? undefined) : undefined;
