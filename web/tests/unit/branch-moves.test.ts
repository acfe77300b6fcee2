import { describe, expect, it, vi } from "vitest";
import { Turnings } from "../../src/state/branchMoves";

describe("where somebody went from this tab", () => {
  /** A server on which the way is the change of that number. */
  const at = (change: number) => async () => `${change}.1`;
  it("makes older what is told of the ways before, and of itself", async () => {
    const turnings = new Turnings();
    await turnings.tell("before", "a", at(9));
    await turnings.tell("before", "b", at(11));
    // Somebody else, before the server heard of our last one.
    expect(turnings.isOld("c", "10.4")).toBe(true);
    expect([turnings.isOld("a", "9.1"), turnings.isOld("b", "11.1")]).toEqual([true, true]);
    expect([turnings.isOld("c", "11.2"), turnings.isOld("a", "12.1")]).toEqual([false, false]);
  });
  it("keeps nobody from following others, also when it is never told of", async () => {
    const turnings = new Turnings();
    await turnings.tell("before", "a", at(9));
    expect(turnings.isOld("c", "10.1")).toBe(false);
  });
  it("makes older what is told before it is answered", async () => {
    const turnings = new Turnings();
    let answer: (place: string) => void = () => undefined;
    const way = turnings.tell("before", "a", () => new Promise<string>((resolve) => (answer = resolve)));
    await Promise.resolve();
    expect(turnings.isOld("c", "8.1")).toBe(true);
    expect(turnings.isOld("a", "9.1")).toBe(true);
    // Told of before it is answered: what comes now came after.
    expect(turnings.isOld("c", "10.1")).toBe(false);
    answer("9.1");
    await way;
    expect(turnings.isOld("c", "11.1")).toBe(false);
  });
  it("is there and back again", async () => {
    const turnings = new Turnings();
    const answers: (() => void)[] = [];
    const ways = ["a", "b", "a"].map((node, change) =>
      turnings.tell("before", node, () => new Promise((answer) => answers.push(() => answer(`${change}.1`)))),
    );
    await Promise.resolve();
    expect(turnings.isOld("a", "0.1")).toBe(true);
    answers[0]?.();
    await ways[0];
    expect(turnings.isOld("b", "1.1")).toBe(true);
    // The second way back to the first node is open still.
    expect(turnings.isOld("c", "1.2")).toBe(true);
  });
  it("is told in order, and a way that was refused is none", async () => {
    const turnings = new Turnings();
    const order: string[] = [];
    let refuse: () => void = () => undefined;
    const first = turnings.tell("before", "a", async () => {
      order.push("a begins");
      return new Promise<string>((_, reject) => (refuse = () => reject(new Error("refused"))));
    });
    const second = turnings.tell("before", "b", async () => (order.push("b begins"), "9.1"));
    await Promise.resolve();
    expect(order).toEqual(["a begins"]);
    refuse();
    await expect(first).rejects.toThrow("refused");
    await second;
    expect(order).toEqual(["a begins", "b begins"]);
    expect(turnings.isOld("a", "10.1")).toBe(false);
  });
  it("is forgotten when all is read anew", async () => {
    const turnings = new Turnings();
    await turnings.tell("before", "a", at(9));
    turnings.forget();
    expect(turnings.isOld("b", "1.1")).toBe(false);
  });
  it("leads back to where the server has them, however many ways it refuses", async () => {
    const turnings = new Turnings();
    const refused = async () => Promise.reject(new Error("refused"));
    const ways = [turnings.tell("a", "b", refused), turnings.tell("b", "c", refused)];
    expect((await Promise.allSettled(ways)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(turnings.stands).toBe("a");
    await turnings.tell("a", "d", at(1));
    expect(turnings.stands).toBe("d");
  });
});

describe("what never comes", () => {
  it("is waited for no longer than a while", async () => {
    vi.useFakeTimers();
    const turnings = new Turnings();
    void turnings.tell("a", "b", () => new Promise(() => undefined));
    let second = false;
    void turnings.tell("b", "c", async () => ((second = true), "1.1"));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(second).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(second).toBe(true);
    vi.useRealTimers();
  });
});
