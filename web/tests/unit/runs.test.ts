import { describe, expect, it } from "vitest";
import { around, barsOf, flameOf, moved } from "../../src/screens/runs/flame";
import { runOf, triesOf, workOf } from "../../src/screens/runs/failedJobs";
import {
  checkpointsOf,
  numbersOf,
  pathTo,
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
  branchedFrom: null,
  conversationId: null,
  cost: null,
  error: null,
  nodeId: null,
  parentId: null,
  parentStep: null,
  pausedAt: null,
  ...more,
});
const call = (id: string, stepId: string, cost: unknown = null, status = "success") => ({
  id,
  stepId,
  requestedAt: at(1),
  causedBy: null,
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
  it("tells a pause, and what it holds up from what is still under way", () => {
    const open = { ...call("c1", "under way"), result: null };
    const steps = [step("under way", { phase: "calling" }), step("next", { phase: "calling" })];
    const paused = run("paused", { status: "running", pausedAt: at(5), endedAt: null, steps, calls: [open] });
    const standing = (one: WholeRun) => rowsOf(one, new Set(), () => "").map(({ status }) => status);
    expect(standing(paused)).toEqual(["paused", "calling", "calling", "held"]);
    expect(standing({ ...paused, pausedAt: null })).toEqual(["running", "calling", "calling", "calling"]);
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

describe("a flame", () => {
  const began = Date.parse(at(0));
  const parallel = run("outer", {
    steps: [
      step("a", { endedAt: at(60) }),
      step("b", { startedAt: at(20), endedAt: at(90) }),
      step("c", { startedAt: at(90), endedAt: at(100) }),
      step("never", { startedAt: null, endedAt: null, phase: "waiting" }),
    ],
    calls: [call("c1", "a"), call("c2", "b")],
  });
  const rows = rowsOf(parallel, new Set(), () => "tool");
  const flame = flameOf(rows, began + 100);
  const laneOf = (id: string) => flame.byId.get(id)?.lane;

  it("stands what was started below what started it, and what ran at once in lanes of its own", () => {
    expect([laneOf("outer"), laneOf("outer/a"), laneOf("c1"), laneOf("outer/b")]).toEqual([0, 1, 2, 3]);
    expect(laneOf("outer/c")).toBe(1);
    expect(flame.byId.has("outer/never")).toBe(false);
    for (const lane of flame.lanes)
      for (const [index, span] of lane.entries())
        expect(span.start).toBeGreaterThanOrEqual(lane[index - 1]?.end ?? 0);
  });
  it("leads by arrows to every span", () => {
    const root = flame.root;
    const first = root && moved(root, "down");
    expect(first?.row.id).toBe("outer/a");
    expect(first && moved(first, "right")?.row.id).toBe("outer/b");
    expect(first && moved(first, "left")).toBeUndefined();
    expect(first && moved(first, "up")).toBe(root);
  });
  it("draws no more bars than there are pixels for, and always the one that is chosen", () => {
    const many = run("long", {
      steps: Array.from({ length: 20_000 }, (_, index) =>
        step(`s${index}`, { startedAt: at(index * 1000), endedAt: at(index * 1000 + 900) }),
      ),
      endedAt: at(20_000_000),
    });
    const long = flameOf(
      rowsOf(many, new Set(), () => ""),
      began,
    );
    const whole = { start: began, end: began + 20_000_000 };
    const lane = long.lanes[1] ?? [];
    const bars = barsOf(lane, whole, 900, "long/s777");
    expect(bars.length).toBeLessThanOrEqual(301);
    expect(bars.some(({ span }) => span.row.id === "long/s777")).toBe(true);
    expect(bars.reduce((sum, { more }) => sum + more + 1, 0)).toBe(20_000);
    const near = long.byId.get("long/s777");
    expect(near && barsOf(lane, around(near, whole), 900).map(({ span }) => span.row.id)).toEqual([
      "long/s777",
    ]);
  });
});

describe("a flame of what failed, and of what was not done", () => {
  const began = Date.parse(at(0));
  it("shows a failure among many that are too short to draw", () => {
    const many = run("long", {
      steps: Array.from({ length: 50 }, (_, index) =>
        step(`s${index}`, {
          phase: index === 30 ? "failed" : "done",
          startedAt: at(index * 2),
          endedAt: at(index * 2 + 1),
        }),
      ),
      endedAt: at(100_000),
    });
    const lane = flameOf(rowsOf(many, new Set(), String), began).lanes[1] ?? [];
    const whole = { start: began, end: began + 100_000 };
    const shown = (selected?: string) =>
      barsOf(lane, whole, 900, selected).map(({ span, more, failed, worst }) => [
        span.row.label,
        more,
        failed,
        worst,
      ]);
    expect(shown()).toEqual([["s30", 49, 1, "failed"]]);
    expect(shown("long/s0")).toEqual([["s0", 49, 1, "failed"]]);
  });
  it("hangs nothing below a step that stands before it", () => {
    const rows = rowsOf(
      run("outer", { steps: [step("a"), step("b", { startedAt: null })], calls: [call("c", "b")] }),
      new Set(),
      String,
    );
    const flame = flameOf(rows, began);
    expect(flame.byId.get("c")?.parent).toBe(flame.root);
    expect(flame.byId.get("outer/a")?.below).toEqual([]);
  });
  it("begins when the run did, whatever it took over from an earlier one", () => {
    const branched = run("later", {
      startedAt: at(86_400_000),
      endedAt: at(86_400_100),
      steps: [step("kept"), step("anew", { startedAt: at(86_400_001), endedAt: at(86_400_090) })],
    });
    const rows = rowsOf(branched, new Set(), String);
    expect(spanOf(rows, began)).toEqual({ start: began + 86_400_000, end: began + 86_400_100 });
    expect(rows.map(({ label, detail, isTakenOver = false }) => [label, detail, isTakenOver])).toEqual([
      ["later", "version 1", false],
      ["kept", "reused", true],
      ["anew", undefined, false],
    ]);
    expect([...flameOf(rows, began).byId.keys()]).toEqual(["later", "later/anew"]);
    expect(checkpointsOf(branched).map(({ isTakenOver }) => isTakenOver)).toEqual([true, false]);
  });
});

describe("checkpoints of a run", () => {
  it("is every step that ended well, by when it did", () => {
    const kept = checkpointsOf(
      run("r", {
        steps: [
          step("late", { endedAt: at(50), output: { level: 1.42 } }),
          step("early", { endedAt: at(10), output: "eleven herons" }),
          step("broken", { phase: "failed" }),
          step("open", { phase: "calling", endedAt: null }),
        ],
      }),
    );
    expect(kept.map(({ step: { id }, gave }) => [id, gave])).toEqual([
      ["early", "eleven herons"],
      ["late", '{"level":1.42}'],
    ]);
  });
  it("is found through the runs that started each other", () => {
    const nested = run("outer", {
      children: [run("beside"), run("inner", { children: [run("innermost")] })],
    });
    expect(pathTo(nested, "innermost").map(({ id }) => id)).toEqual(["outer", "inner", "innermost"]);
    expect(pathTo(nested, "nowhere")).toEqual([]);
  });
});

describe("failed jobs", () => {
  it("is named by its kind, its step and how often it was tried", () => {
    expect(workOf({ queue: "rest_call" })).toBe("HTTP request");
    expect(workOf({ queue: "summaries" })).toBe("Summary");
    expect(workOf({ queue: "of a later version" })).toBe("of a later version");
    expect(triesOf({ step: 0, attempts: 3, lost: 1 })).toBe(
      "step 1 · tried 3 times · its worker vanished once",
    );
    expect(triesOf({ step: null, attempts: 0, lost: 0 })).toBe("never started");
  });
  it("leads to the run of whoever may open it", () => {
    expect(runOf({ executionId: "execution_1", reason: "its payload cannot be read" })).toBe("execution_1");
    expect(runOf({ executionId: "execution_1", reason: null })).toBeUndefined();
    expect(runOf({ executionId: null, reason: "its payload cannot be read" })).toBeUndefined();
  });
});
