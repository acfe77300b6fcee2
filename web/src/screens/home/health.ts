// Health of the parts of an installation, in a few words each.
import type { Connection } from "../../api/events";
import type { Schemas } from "../../api/client";
import { to } from "../../routes";
import { healthOf } from "../catalog/kinds";

export interface Health {
  what: string;
  words: string;
  /** Nothing where it is not known. */
  isWell: boolean | undefined;
  /** Screen on which a person can act on it. */
  href?: string;
  /** The cause, or the parts concerned. */
  more?: string;
}

/** Nobody answered who could tell. */
export const unknownHealth = (what: "Workers" | "Memory" | "Model services" | "Failed jobs"): Health => ({
  what,
  words: `${what}: unknown`,
  isWell: undefined,
});

export const serverHealth = (connection: Connection): Health => ({
  what: "server",
  words: {
    connecting: "Server: connecting…",
    open: "Server connected",
    lost: "Server unreachable",
    refused: "Signed out",
  }[connection],
  isWell: connection === "connecting" ? undefined : connection === "open",
});

export function workerHealth(workers: readonly Pick<Schemas["WorkerView"], "status">[]): Health {
  const there = workers.filter(({ status }) => status !== "offline");
  const busy = there.filter(({ status }) => status === "busy").length;
  const count = `${there.length} ${there.length === 1 ? "worker" : "workers"}`;
  const words =
    there.length === 0 ? "No worker: no job runs" : busy > 0 ? `${count}, ${busy} busy` : `${count}, idle`;
  return { what: "workers", words, isWell: there.length > 0, href: "/runs" };
}

export function indexHealth(
  index: Pick<Schemas["IndexView"], "available" | "caughtUp" | "failure" | "behind" | "embedderFailure">,
): Health {
  const found = (words: string, isWell: boolean, more?: string | null): Health => ({
    what: "index",
    words,
    isWell,
    ...(more ? { more } : {}),
  });
  if (index.failure) return found("Memory cannot be indexed", false, index.failure);
  if (!index.available) return found("Memory search is lexical only", false, "this server has no index");
  if (index.embedderFailure)
    return found("Memory search is lexical for now", false, "the embedder creates no vectors");
  if (index.caughtUp) return found("Memory up to date", true);
  return found(
    index.behind ? `Memory ${index.behind.toLocaleString("en-GB")} behind` : "Memory catching up",
    true,
  );
}

/** Number of failed jobs; undefined if there are none. Only the first page is counted. */
export function deadHealth({
  data,
  pagination,
}: {
  data: readonly Pick<Schemas["DeadJobView"], "executionId">[];
  pagination: Pick<Schemas["Pagination"], "next">;
}): Health | undefined {
  if (data.length === 0) return undefined;
  const kind = data.every(({ executionId }) => executionId) ? "call" : "job";
  const count = `${pagination.next ? "More than " : ""}${data.length} ${kind}${data.length === 1 ? "" : "s"}`;
  return { what: "dead", words: `${count} failed`, isWell: false, href: to.failedJobs };
}

type Service = Pick<Schemas["ServiceView"], "name" | "enabled" | "status" | "lastHealthCheck">;

export function modelHealth(models: readonly Service[]): Health {
  const found = (words: string, isWell: boolean | undefined, more = ""): Health => ({
    what: "models",
    words,
    isWell,
    href: "/catalog/services",
    ...(more ? { more } : {}),
  });
  if (models.length === 0) return found("No model service", false);
  const count = `${models.length} ${models.length === 1 ? "model service" : "model services"}`;
  // A built-in service is healthy without a check.
  const unknown = models.filter((one) => healthOf(one).word === "not checked" && one.status !== "healthy");
  if (unknown.length === models.length) return found(`${count}, not checked yet`, undefined);
  const named = (word: string) => models.filter((one) => healthOf(one).word === word).map(({ name }) => name);
  const down = named("down");
  const inPart = named("degraded");
  const words = [
    `${models.length - down.length - unknown.length} of ${count} reachable`,
    unknown.length > 0 ? `${unknown.length} not checked yet` : "",
  ];
  const more = [
    down.length > 0 ? `not reachable: ${down.join(", ")}` : "",
    inPart.length > 0 ? `some addresses are unreachable: ${inPart.join(", ")}` : "",
  ];
  const told = (parts: string[], by: string) => parts.filter(Boolean).join(by);
  return found(told(words, ", "), down.length === 0, told(more, "; "));
}
