import { describe, expect, it } from "vitest";
import { isOf } from "../../src/screens/home/conversations.svelte";
import {
  deadHealth,
  indexHealth,
  modelHealth,
  serverHealth,
  unknownHealth,
  workerHealth,
} from "../../src/screens/home/health";

const service = (name: string, status: string, lastHealthCheck: string | null = "2026-11-15T09:30:00Z") => ({
  name,
  enabled: true,
  status,
  lastHealthCheck,
});
const index = { available: true, caughtUp: true, failure: null, behind: 0, embedderFailure: null };

describe("conversations that were asked for before the project was known", () => {
  const of = (...projects: string[]) => projects.map((projectId) => ({ projectId }));
  it("are taken when they are those of the project", () => {
    expect(isOf("a", "a", of("a"))).toBe(true);
    expect(isOf("a", undefined, of("a", "a"))).toBe(true);
    expect(isOf("a", undefined, [])).toBe(true);
  });
  it("are asked for again when they are of others, too", () => {
    expect(isOf("a", "b", of("b"))).toBe(false);
    expect(isOf("a", undefined, of("a", "b"))).toBe(false);
  });
});

describe("health of an installation", () => {
  it("says of models which cannot be reached, and which nobody tried yet", () => {
    expect(modelHealth([service("A", "healthy")])).toMatchObject({
      words: "1 of 1 model service reachable",
      isWell: true,
    });
    const some = [service("A", "healthy"), service("B", "down"), service("C", "degraded", null)];
    expect(modelHealth(some)).toMatchObject({
      words: "1 of 3 model services reachable, 1 not checked yet",
      isWell: false,
      more: "not reachable: B",
    });
    expect(modelHealth([])).toMatchObject({ words: "No model service", isWell: false });
  });
  it("counts a model service that answers at some of its addresses as reachable", () => {
    expect(modelHealth([service("A", "degraded"), service("B", "healthy", null)])).toMatchObject({
      words: "2 of 2 model services reachable",
      isWell: true,
      more: "some addresses are unreachable: A",
    });
  });
  it("calls nothing well that it does not know", () => {
    const { words, isWell } = modelHealth([service("A", "degraded", null)]);
    expect([words, isWell]).toEqual(["1 model service, not checked yet", undefined]);
    expect(serverHealth("connecting").isWell).toBeUndefined();
    expect(unknownHealth("Workers")).toMatchObject({ words: "Workers: unknown", isWell: undefined });
  });
  it("says of workers how many are there and busy", () => {
    const worker = (status: string) => ({ status });
    expect(workerHealth([worker("idle"), worker("offline")]).words).toBe("1 worker, idle");
    expect(workerHealth([worker("busy"), worker("idle")]).words).toBe("2 workers, 1 busy");
    expect(workerHealth([worker("offline")]).isWell).toBe(false);
  });
  it("says of memory how far it is, and what is wrong with it", () => {
    expect(indexHealth(index)).toMatchObject({ words: "Memory up to date", isWell: true });
    expect(indexHealth({ ...index, caughtUp: false, behind: 1200 }).words).toBe("Memory 1,200 behind");
    expect(indexHealth({ ...index, failure: "disk full" })).toMatchObject({
      isWell: false,
      more: "disk full",
    });
    expect(indexHealth({ ...index, available: false }).isWell).toBe(false);
  });
  it("says how much nobody could do, only where there is something", () => {
    const page = (jobs: { executionId: string | null }[], next: string | null = null) =>
      deadHealth({ data: jobs, pagination: { next } });
    expect(page([])).toBeUndefined();
    expect(page([{ executionId: "execution_1" }])).toMatchObject({
      words: "1 call failed",
      isWell: false,
      href: "/runs/failed-jobs",
    });
    expect(page([{ executionId: "execution_1" }, { executionId: null }])?.words).toBe("2 jobs failed");
    expect(page([{ executionId: "a" }, { executionId: "b" }], "job_2")?.words).toBe(
      "More than 2 calls failed",
    );
  });
  it("says of the server whether it can be reached", () => {
    expect(serverHealth("open").isWell).toBe(true);
    expect(serverHealth("lost")).toMatchObject({ words: "Server unreachable", isWell: false });
  });
});
