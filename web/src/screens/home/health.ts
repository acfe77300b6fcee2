// How the parts of an installation are, in a few words each.
import type { Connection } from "../../api/events";
import type { Schemas } from "../../api/client";

export interface Health {
  what: string;
  words: string;
  isWell: boolean;
  /** Where something can be done about it. */
  href?: string;
  more?: string;
}

export const serverHealth = (connection: Connection): Health => ({
  what: "server",
  words: {
    connecting: "Server: connecting…",
    open: "Server connected",
    lost: "Server out of reach",
    refused: "Signed out",
  }[connection],
  isWell: connection === "open" || connection === "connecting",
});

export function workerHealth(
  workers: readonly Pick<Schemas["WorkerView"], "status" | "concurrency">[],
): Health {
  const there = workers.filter(({ status }) => status !== "offline");
  const busy = there.filter(({ status }) => status === "busy").length;
  const count = `${there.length} ${there.length === 1 ? "worker" : "workers"}`;
  const words =
    there.length === 0
      ? "No worker: nothing is carried out"
      : busy > 0
        ? `${count}, ${busy} busy`
        : `${count}, idle`;
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
  if (!index.available)
    return found("Memory is found by words only", false, "There is no index on this server.");
  if (index.embedderFailure)
    return found("Memory is found by words for now", false, "No vectors are made for now.");
  if (index.caughtUp) return found("Memory up to date", true);
  return found(
    index.behind ? `Memory ${index.behind.toLocaleString("en-GB")} behind` : "Memory catching up",
    true,
  );
}

export function modelHealth(
  models: readonly {
    name: string;
    status: string;
    lastHealthCheck?: string | null;
    builtin?: string | null;
  }[],
): Health {
  const ill = models.filter(
    ({ status, lastHealthCheck }) => status === "down" || (status === "degraded" && lastHealthCheck),
  );
  const unknown = models.filter(({ status, lastHealthCheck }) => status === "degraded" && !lastHealthCheck);
  const well = models.length - ill.length - unknown.length;
  const names = ill.map(({ name }) => name).join(", ");
  const told = [
    `${well} of ${models.length} ${models.length === 1 ? "model service" : "model services"} reachable`,
    unknown.length > 0 ? `${unknown.length} not tried yet` : "",
  ];
  return {
    what: "models",
    words: models.length === 0 ? "No model service" : told.filter(Boolean).join(", "),
    isWell: models.length > 0 && ill.length === 0,
    href: "/catalogue/services",
    ...(names ? { more: `Not reachable: ${names}` } : {}),
  };
}
