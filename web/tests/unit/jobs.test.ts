import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ProgressEvent, ServerEvent } from "../../src/api/events";
import { jobs } from "../../src/state/jobs.svelte";

const heard = vi.hoisted(() => ({
  told: (_: ServerEvent) => {},
  progressed: (_: ProgressEvent) => {},
}));
vi.mock("../../src/api/events", () => ({
  onServerEvent: (listener: typeof heard.told) => ((heard.told = listener), () => {}),
  onProgress: (listener: typeof heard.progressed) => ((heard.progressed = listener), () => {}),
  onResync: () => () => {},
}));

const told = (event: string) => heard.told({ event, subject: "op", itemId: "item_1", at: "", cursor: "1.1" });
const settled = () => vi.advanceTimersByTimeAsync(0);

describe("operations in the status bar", () => {
  let stop: () => void;
  let statuses: Map<string, string>;
  beforeEach(() => {
    vi.useFakeTimers();
    statuses = new Map();
    vi.stubGlobal("fetch", async (address: string | URL) => {
      const status = statuses.get(String(address).split("/").at(-1) ?? "");
      return Response.json(status ? { status } : { data: [], waiting: 0 });
    });
    stop = jobs.start();
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it.each(["verification.completed", "verification.failed", "operation.cancelled", "import.made"])(
    "leave with %s, without waiting for anything",
    async (event) => {
      const id = `op_${event}`;
      statuses.set(id, "processing");
      heard.progressed({ operationId: id, progress: 49 });
      expect([...jobs.operations]).toEqual([[id, 49]]);
      statuses.set(id, "completed");
      told(event);
      await settled();
      expect([...jobs.operations]).toEqual([]);
      // Progress sent before the end may arrive after it.
      heard.progressed({ operationId: id, progress: 73 });
      expect([...jobs.operations]).toEqual([]);
    },
  );
  it("stay while they go on, whatever else ends", async () => {
    statuses.set("op_long", "processing");
    heard.progressed({ operationId: "op_long", progress: 12 });
    told("verification.completed");
    await settled();
    expect([...jobs.operations]).toEqual([["op_long", 12]]);
    statuses.set("op_long", "failed");
    await vi.advanceTimersByTimeAsync(2_000);
    expect([...jobs.operations]).toEqual([]);
  });
});
