import { describe, expect, it } from "vitest";
import {
  numbersOf,
  rowsOf,
  shownCost,
  shownSpan,
  spanOf,
  ticksOf,
  type WholeRun,
} from "../../src/screens/runs/trace";

const at = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString();
const step = (id: string, more = {}) => ({
  id,
  phase: "done",
  attempts: 1,
  inputs: {},
  output: null,
  error: null,
  tokens: 5,
  callId: null,
  rawResponseId: null,
  startedAt: at(0),
  endedAt: at(10),
  ...more,
});
const run = (id: string, more: Partial<WholeRun> = {}): WholeRun => ({
  id,
  processId: "p",
  processName: id,
  processVersion: 1,
  status: "completed",
  initialContext: {},
  callStack: [id],
  tokens: 0,
  startedAt: at(0),
  endedAt: at(100),
  steps: [step("a"), step("b", { attempts: 3 })],
  calls: [],
  children: [],
  reviewIds: [],
  ...more,
});
const call = (id: string, stepId: string, cost: unknown = null, status = "success") => ({
  id,
  stepId,
  requestedAt: at(1),
  derivedFrom: [],
  call: { toolId: "t" },
  result: { id: `${id}r`, returnedAt: at(5), result: { status, cost } },
});

describe("a trace", () => {
  const whole = run("outer", {
    calls: [call("c0", "b", null, "error"), call("c3", "b"), call("c1", "a", 0.25)],
    children: [run("inner", { parentStep: 2, calls: [call("c2", "a")] })],
  });
  it("puts calls and inner runs below their step", () => {
    const rows = rowsOf(whole, new Set(), (id) => `tool ${id}`);
    expect(rows.map(({ level, label }) => [level, label])).toEqual([
      [1, "outer"],
      [2, "a"],
      [3, "tool t"],
      [2, "b"],
      [3, "tool t"],
      [3, "tool t"],
      [3, "inner"],
      [4, "a"],
      [5, "tool t"],
      [4, "b"],
    ]);
    expect(rowsOf(whole, new Set(["outer/b"]), () => "")).toHaveLength(4);
  });
  it("adds up what is known", () => {
    expect(numbersOf(whole)).toEqual({ tokens: 10, calls: 4, retries: 1, cost: 0.25 });
    expect(numbersOf(run("plain")).cost).toBeUndefined();
    expect(shownCost(undefined)).toBe("—");
  });
  it("spans all of it, and up to now while it goes on", () => {
    const rows = rowsOf(run("open", { endedAt: null, status: "running" }), new Set(), () => "");
    const start = Date.parse(at(0));
    expect(spanOf(rows, start + 500)).toEqual({ start, end: start + 500 });
  });
  it("marks time in round numbers", () => {
    expect(ticksOf(100)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticksOf(3_600_000).length).toBeLessThan(12);
    expect([shownSpan(12), shownSpan(1500), shownSpan(61_000), shownSpan(7_260_000)]).toEqual([
      "12 ms",
      "1.5 s",
      "1 min 1 s",
      "2 h 1 min",
    ]);
  });
});
