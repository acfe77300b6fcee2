import { describe, expect, it, vi } from "vitest";
import { BranchMoves } from "../../src/state/branchMoves";

describe("moves of this tab", () => {
  /** A server on which the way is the change of that number. */
  const at = (change: number) => async () => `${change}.1`;
  it("makes older what is told of the ways before, and of itself", async () => {
    const moves = new BranchMoves();
    await moves.tell("before", "a", at(9));
    await moves.tell("before", "b", at(11));
    // Somebody else, before the server heard of our last one.
    expect(moves.isOld("c", "10.4")).toBe(true);
    expect([moves.isOld("a", "9.1"), moves.isOld("b", "11.1")]).toEqual([true, true]);
    expect([moves.isOld("c", "11.2"), moves.isOld("a", "12.1")]).toEqual([false, false]);
  });
  it("keeps nobody from following others, also when it is never told of", async () => {
    const moves = new BranchMoves();
    await moves.tell("before", "a", at(9));
    expect(moves.isOld("c", "10.1")).toBe(false);
  });
  it("makes older what is told before it is answered", async () => {
    const moves = new BranchMoves();
    let answer: (place: string) => void = () => undefined;
    const way = moves.tell("before", "a", () => new Promise<string>((resolve) => (answer = resolve)));
    await Promise.resolve();
    expect(moves.isOld("c", "8.1")).toBe(true);
    expect(moves.isOld("a", "9.1")).toBe(true);
    // Told of before it is answered: what comes now came after.
    expect(moves.isOld("c", "10.1")).toBe(false);
    answer("9.1");
    await way;
    expect(moves.isOld("c", "11.1")).toBe(false);
  });
  it("is there and back again", async () => {
    const moves = new BranchMoves();
    const answers: (() => void)[] = [];
    const ways = ["a", "b", "a"].map((node, change) =>
      moves.tell("before", node, () => new Promise((answer) => answers.push(() => answer(`${change}.1`)))),
    );
    await Promise.resolve();
    expect(moves.isOld("a", "0.1")).toBe(true);
    answers[0]?.();
    await ways[0];
    expect(moves.isOld("b", "1.1")).toBe(true);
    // The second way back to the first node is open still.
    expect(moves.isOld("c", "1.2")).toBe(true);
  });
  it("is told in order, and a way that was refused is none", async () => {
    const moves = new BranchMoves();
    const order: string[] = [];
    let refuse: () => void = () => undefined;
    const first = moves.tell("before", "a", async () => {
      order.push("a begins");
      return new Promise<string>((_, reject) => (refuse = () => reject(new Error("refused"))));
    });
    const second = moves.tell("before", "b", async () => (order.push("b begins"), "9.1"));
    await Promise.resolve();
    expect(order).toEqual(["a begins"]);
    refuse();
    await expect(first).rejects.toThrow("refused");
    await second;
    expect(order).toEqual(["a begins", "b begins"]);
    expect(moves.isOld("a", "10.1")).toBe(false);
  });
  it("is forgotten when all is read anew", async () => {
    const moves = new BranchMoves();
    await moves.tell("before", "a", at(9));
    moves.forget();
    expect(moves.isOld("b", "1.1")).toBe(false);
  });
  it("leads back to where the server has them, however many ways it refuses", async () => {
    const moves = new BranchMoves();
    const refused = async () => Promise.reject(new Error("refused"));
    const ways = [moves.tell("a", "b", refused), moves.tell("b", "c", refused)];
    expect((await Promise.allSettled(ways)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(moves.stands).toBe("a");
    await moves.tell("a", "d", at(1));
    expect(moves.stands).toBe("d");
  });
});

describe("a response that never comes", () => {
  it("is waited for no longer than a while", async () => {
    vi.useFakeTimers();
    const moves = new BranchMoves();
    void moves.tell("a", "b", () => new Promise(() => undefined));
    let second = false;
    void moves.tell("b", "c", async () => ((second = true), "1.1"));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(second).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(second).toBe(true);
    vi.useRealTimers();
  });
});
