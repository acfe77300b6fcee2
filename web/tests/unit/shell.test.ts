import { describe, expect, it } from "vitest";
import { faviconOf } from "../../src/shell/favicon";
import { TokenRate } from "../../src/state/rate";

describe("how quickly words come", () => {
  it("is reckoned over the last seconds, four characters a token", () => {
    const rate = new TokenRate();
    for (let at = 0; at <= 1000; at += 100) rate.add(40, at);
    expect(rate.at(1000)).toBeCloseTo(100);
    expect(rate.at(2000)).toBeCloseTo(50);
  });
  it("is not told of a moment, nor once nothing comes", () => {
    const rate = new TokenRate();
    expect(rate.at(0)).toBeUndefined();
    rate.add(400, 0);
    rate.add(400, 100);
    expect(rate.at(100)).toBeUndefined();
    expect(rate.at(5000)).toBeUndefined();
  });
  it("is not made less by a model that begins anew", () => {
    const rate = new TokenRate();
    rate.add(40, 0);
    rate.add(-500, 500);
    rate.add(40, 1000);
    expect(rate.at(1000)).toBeCloseTo(10);
  });
});

describe("the icon of the tab", () => {
  const drawn = (percent?: number) => decodeURIComponent(faviconOf(percent));
  it("is a drawing of its own that loads nothing", () => {
    expect(faviconOf(50)).toMatch(/^data:image\/svg\+xml,%3Csvg/);
    expect(drawn(50).replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|href/);
  });
  it("shows how far it is, where that is known", () => {
    expect(drawn(50)).toContain('stroke-dasharray="15.7 31.4"');
    expect(drawn(100)).toContain('stroke-dasharray="31.4 31.4"');
    expect(drawn()).not.toContain("stroke-dasharray");
  });
});
