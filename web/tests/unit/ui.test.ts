import { describe, expect, it } from "vitest";
import { MessageParser } from "../../src/api/sse";
import { chordOf, isPlain } from "../../src/keys/chord";
import { match } from "../../src/router.svelte";
import { ranked } from "../../src/shell/fuzzyRank";
import { LatestRequest, coalesce } from "../../src/state/latestRequest";
import { blocksOf, isTooMuch } from "../../src/ui/blocks";
import { drawnNext } from "../../src/ui/rowsToDraw";
import { Heights } from "../../src/ui/heights";
import { faultsOf, startOf } from "../../src/ui/jsonSchema";
import { leadsToSignIn } from "../../src/ui/markdown";
import { Pace, shownRate } from "../../src/ui/progressRate";
import { ago } from "../../src/ui/time";

describe("Heights", () => {
  it("finds rows and offsets while heights change", () => {
    const heights = new Heights([10, 20, 30, 40]);
    expect([
      heights.total,
      heights.before(2),
      heights.at(0),
      heights.at(10),
      heights.at(29),
      heights.at(999),
    ]).toEqual([100, 30, 0, 1, 1, 3]);
    heights.set(1, 100);
    expect([heights.total, heights.before(2), heights.at(109), heights.at(110)]).toEqual([180, 110, 1, 2]);
    expect([new Heights([]).total, new Heights([]).at(5)]).toEqual([0, 0]);
  });
});

describe("MessageParser", () => {
  it("gives whole messages however the text is cut", () => {
    const text = 'id: 7\nevent: text\ndata: {"a":1}\n\n: alive\n\ndata: x\ndata: y\n\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new MessageParser();
      const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(found).toEqual([
        { id: "7", event: "text", data: '{"a":1}' },
        { event: "message", data: "x\ny" },
      ]);
    }
  });
});

describe("blocksOf", () => {
  it("cuts between blocks, never inside fences or lists, and loses nothing", () => {
    const text = "One\n\nTwo\n\n```\na\n\nb\n```\n\n- x\n\n- y\n\nEnd";
    const blocks = blocksOf(text);
    expect(blocks.join("\n")).toBe(text);
    expect(blocks.map((block) => block.trim())).toEqual([
      "One",
      "Two",
      "```\na\n\nb\n```",
      "- x\n\n- y",
      "End",
    ]);
  });
  it("knows what is too much", () => {
    expect([isTooMuch("short"), isTooMuch("x".repeat(10_001)), isTooMuch("a\n".repeat(40_000))]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("routes", () => {
  it("match by parts and decode them", () => {
    expect(match("/c/:conversation/n/:node", "/c/entity_1/n/a%20b")).toEqual({
      conversation: "entity_1",
      node: "a b",
    });
    expect([match("/c/:id", "/c"), match("/c/:id", "/c/"), match("/c/:id", "/c/%zz")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the palette", () => {
  it("puts beginnings before letters in order", () => {
    const found = ranked("ru", ["Go to Runs", "Turn", "Run it", "Other"], (label) => label);
    expect(found).toEqual(["Run it", "Go to Runs"]);
  });
});

describe("JSON Schema", () => {
  const schema = {
    type: "object",
    required: ["city"],
    properties: { city: { type: "string" }, days: { type: "integer", maximum: 7, default: 3 } },
  };
  it("begins with defaults and names what is wrong", () => {
    expect(startOf(schema)).toEqual({ days: 3 });
    expect(faultsOf(schema, { days: 9 })).toEqual({ city: "is required", days: "must be at most 7" });
    expect(faultsOf(schema, { city: "Oulu", days: 2 })).toEqual({});
    const lists = { type: "object", properties: { days: { type: "array" }, at: { type: "object" } } };
    expect(faultsOf(lists, { days: "[1, 2", at: [] })).toEqual({
      days: "must be a list: [ … ]",
      at: "must be an object: { … }",
    });
  });
});

describe("time", () => {
  it("is said as people say it", () => {
    const now = Date.UTC(2026, 10, 15, 12);
    expect([ago(now - 5_000, now), ago(now - 300_000, now), ago(now - 7_200_000, now)]).toEqual([
      "just now",
      "5 min ago",
      "2 h ago",
    ]);
  });
  it("tells what is slow by the minute", () => {
    expect([shownRate(1234, "nodes"), shownRate(0.2, "answers")]).toEqual([
      "1,234 nodes/s",
      "12 answers/min",
    ]);
  });
  it("has a pace only when there is enough to say so", () => {
    const pace = new Pace();
    expect([pace.at(0, 0), pace.at(10, 100), pace.at(50, 1000)]).toEqual([undefined, undefined, 50]);
  });
});

describe("chords", () => {
  const press = (fields: Partial<KeyboardEvent>) => chordOf(fields as KeyboardEvent);
  it("are named the same on every keyboard", () => {
    expect([
      press({ key: "G", shiftKey: true }),
      press({ key: "?", shiftKey: true }),
      press({ key: "k", ctrlKey: true }),
    ]).toEqual(["Shift+g", "?", "Mod+k"]);
    expect([isPlain("Shift+g"), isPlain("Mod+k")]).toEqual([true, false]);
  });
});

describe("rows that somebody flies past", () => {
  it("are drawn a few at a time, and stay drawn while they are in sight", () => {
    const keys = ["a", "b", "c", "d", "e"];
    const first = drawnNext(keys, new Set(), 2);
    expect([...first]).toEqual(["a", "b"]);
    const second = drawnNext(["b", "c", "d", "e"], first, 2);
    expect([...second]).toEqual(["b", "c", "d"]);
    expect([...drawnNext(["x", "y"], second, 2)]).toEqual(["x", "y"]);
    expect(drawnNext(keys, new Set(), keys.length).size).toBe(5);
  });
});

describe("answers that come out of order", () => {
  it("count only if nobody asked again", () => {
    const newest = new LatestRequest();
    const first = newest.ask();
    expect(first()).toBe(true);
    const second = newest.ask();
    expect([first(), second()]).toEqual([false, true]);
  });
  it("is asked once more for all that is told while it is asked", async () => {
    const ends: (() => void)[] = [];
    const again = coalesce(() => new Promise<void>((resolve) => ends.push(resolve)));
    const done = again();
    void again();
    void again();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await Promise.resolve();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await done;
    expect(ends).toHaveLength(2);
    void again();
    expect(ends).toHaveLength(3);
  });
});

describe("leadsToSignIn", () => {
  const origin = "http://127.0.0.1:7420";
  it("finds links that would change the account, however they are written", () => {
    for (const link of [
      "/sign-in/sl_x",
      "/sign-in",
      "//127.0.0.1:7420/sign-in/x",
      "\\sign-in\\x",
      "/c/../sign-in/x",
      "/c/%2e%2e/sign-in/x",
      "/%73ign-in/x",
      "/SIGN-IN/x",
      "//sign-in/sl_x/../../sign-in/sl_y",
      "http://127.0.0.1:7420/sign-in/x",
      "http://localhost:7420/sign-in/sl_x",
      "http://127.0.0.1:7420//sign-in/x",
      "/%",
    ])
      expect([link, leadsToSignIn(link, origin)]).toEqual([link, true]);
  });
  it("leaves other links alone", () => {
    for (const link of [
      "/c/entity_1",
      "https://git.example/sign-in/",
      "#sign-in",
      "mailto:a@b.example",
      "/sign-in-help",
    ])
      expect([link, leadsToSignIn(link, origin)]).toEqual([link, false]);
  });
});
