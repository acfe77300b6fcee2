import { describe, expect, it, vi } from "vitest";
import { Turnings } from "../../src/state/turnings";

describe("where somebody went from this tab", () => {
  const went = async () => undefined;
  it("makes older what is told of the ways before", async () => {
    const turnings = new Turnings();
    await turnings.tell("before", "a", went);
    await turnings.tell("before", "b", went);
    expect(turnings.isOld("a")).toBe(true);
    // Somebody else, before the server heard of our last one.
    expect(turnings.isOld("c")).toBe(true);
    expect(turnings.isOld("b")).toBe(false);
    expect(turnings.isOld("a")).toBe(false);
  });
  it("is there and back again", async () => {
    const turnings = new Turnings();
    for (const node of ["a", "b", "a"]) await turnings.tell("before", node, went);
    expect(["a", "b", "a", "b"].map((node) => turnings.isOld(node))).toEqual([true, true, false, false]);
  });
  it("is told in order, and a way that was refused is none", async () => {
    const turnings = new Turnings();
    const order: string[] = [];
    let refuse: () => void = () => undefined;
    const first = turnings.tell("before", "a", async () => {
      order.push("a begins");
      await new Promise<void>((_, reject) => (refuse = () => reject(new Error("refused"))));
    });
    const second = turnings.tell("before", "b", async () => void order.push("b begins"));
    await Promise.resolve();
    expect(order).toEqual(["a begins"]);
    refuse();
    await expect(first).rejects.toThrow("refused");
    await second;
    expect(order).toEqual(["a begins", "b begins"]);
    expect(turnings.isOld("c")).toBe(true);
    expect(turnings.isOld("b")).toBe(false);
  });
  it("is forgotten when all is read anew", async () => {
    const turnings = new Turnings();
    await turnings.tell("before", "a", went);
    turnings.forget();
    expect(turnings.isOld("b")).toBe(false);
  });
  it("leads back to where the server has them, however many ways it refuses", async () => {
    const turnings = new Turnings();
    const refused = async () => Promise.reject(new Error("refused"));
    const ways = [turnings.tell("a", "b", refused), turnings.tell("b", "c", refused)];
    expect((await Promise.allSettled(ways)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(turnings.stands).toBe("a");
    await turnings.tell("a", "d", went);
    expect(turnings.stands).toBe("d");
  });
});

describe("what never comes", () => {
  it("is waited for no longer than a while", async () => {
    vi.useFakeTimers();
    const turnings = new Turnings();
    void turnings.tell("a", "b", () => new Promise(() => undefined));
    let second = false;
    void turnings.tell("b", "c", async () => void (second = true));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(second).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(second).toBe(true);
    vi.useRealTimers();
  });
});
