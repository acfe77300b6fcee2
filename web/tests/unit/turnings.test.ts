import { describe, expect, it } from "vitest";
import { Turnings } from "../../src/state/turnings";

describe("where somebody went from this tab", () => {
  const went = async () => undefined;
  it("makes older what is told of the ways before", async () => {
    const turnings = new Turnings();
    await turnings.tell("a", went);
    await turnings.tell("b", went);
    expect(turnings.isOld("a")).toBe(true);
    // Somebody else, before the server heard of our last one.
    expect(turnings.isOld("c")).toBe(true);
    expect(turnings.isOld("b")).toBe(false);
    expect(turnings.isOld("a")).toBe(false);
  });
  it("is there and back again", async () => {
    const turnings = new Turnings();
    for (const node of ["a", "b", "a"]) await turnings.tell(node, went);
    expect(["a", "b", "a", "b"].map((node) => turnings.isOld(node))).toEqual([true, true, false, false]);
  });
  it("is told in order, and a way that was refused is none", async () => {
    const turnings = new Turnings();
    const order: string[] = [];
    let refuse: () => void = () => undefined;
    const first = turnings.tell("a", async () => {
      order.push("a begins");
      await new Promise<void>((_, reject) => (refuse = () => reject(new Error("refused"))));
    });
    const second = turnings.tell("b", async () => void order.push("b begins"));
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
    await turnings.tell("a", went);
    turnings.forget();
    expect(turnings.isOld("b")).toBe(false);
  });
});
