import { afterEach, describe, expect, it, vi } from "vitest";
import { faviconOf } from "../../src/shell/favicon";
import { registry, shownKeyOf } from "../../src/keys/registry.svelte";
import { settings } from "../../src/state/settings.svelte";
import { AnswerAnnouncer } from "../../src/screens/conversation/answerAnnouncer";
import { Sentences } from "../../src/state/sentences";
import { parseNodeReference, nodeReferenceFault } from "../../src/state/nodeReference";
import { TokenRate } from "../../src/state/rate";

describe("the token rate", () => {
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

describe("keys", () => {
  afterEach(() => vi.unstubAllGlobals());
  it("of one letter are silent once they are switched off, with Shift too; others go on", () => {
    for (const name of [
      "Element",
      "HTMLElement",
      "HTMLTextAreaElement",
      "HTMLSelectElement",
      "HTMLInputElement",
    ])
      vi.stubGlobal(name, class {});
    const ran: string[] = [];
    const stop = registry.add({
      handlers: {
        "review.approve": () => void ran.push("a"),
        "review.approveChosen": () => void ran.push("Shift+a"),
        "everywhere.palette": () => void ran.push("Mod+k"),
        "review.close": () => void ran.push("Escape"),
      },
    });
    const press = (key: string, more: object = {}) =>
      registry.press({ key, target: null, preventDefault: () => undefined, ...more } as KeyboardEvent);
    const all = () => {
      press("a");
      press("A", { shiftKey: true });
      press("k", { ctrlKey: true });
      press("Escape");
      return ran.splice(0);
    };
    expect(all()).toEqual(["a", "Shift+a", "Mod+k", "Escape"]);
    expect(["conversation.edit", "everywhere.search"].map(shownKeyOf)).toEqual(["E", "/"]);
    vi.spyOn(settings, "singleKeys", "get").mockReturnValue(false);
    expect(all()).toEqual(["Mod+k", "Escape"]);
    expect(["conversation.edit", "everywhere.search"].map(shownKeyOf)).toEqual([undefined, "Ctrl Shift F"]);
    stop();
  });
});

describe("announcements of an answer", () => {
  const heard = (how: "whole" | "sentences" | "off", texts: string[], whole: string) => {
    const said: string[] = [];
    const hearing = new AnswerAnnouncer((words) => said.push(words));
    for (const text of texts) hearing.goes("n", text, how);
    hearing.ended(new Set(), () => whole, how);
    return said;
  };
  const WHOLE = "Two herons. At 4.30 there were five! Then";
  it("is the whole of it, once", () => {
    expect(heard("whole", ["Two", "Two herons. At"], WHOLE)).toEqual(["Answering…", `Answer: ${WHOLE}`]);
    expect(heard("whole", [""], "x".repeat(15_000))[1]).toHaveLength(15_008);
  });
  it("is each sentence as it ends, and the rest at the end", () => {
    const texts = ["Two", "Two herons. At 4.", "Two herons. At 4.30 there were five! T"];
    expect(heard("sentences", texts, WHOLE)).toEqual([
      "Answering…",
      "Two herons.",
      "At 4.30 there were five!",
      "Then",
    ]);
  });
  it("is that it is finished, for those who want no more", () => {
    expect(heard("off", ["Two"], WHOLE)).toEqual(["Answering…", "The answer is completed."]);
  });
});

describe("the sentences of a text that grows", () => {
  const ends = (...texts: string[]) => {
    const sentences = new Sentences();
    return texts.map((text) => text.slice(0, sentences.endIn(text)));
  };
  it("end with a mark and whatever closes, once a space follows", () => {
    expect(ends("He said “no.”", "He said “no.” Then 4.", "He said “no.” Then 4.5 (five!) a")).toEqual([
      "",
      "He said “no.”",
      "He said “no.” Then 4.5 (five!)",
    ]);
    expect(ends("水。火", "A\n", "A\n\nB")).toEqual(["水。", "", "A\n\n"]);
  });
  it("begin anew with a text that does", () => expect(ends("One. Two. T", "One. T")[1]).toBe("One."));
  it("are read once, however long they are and whatever stands in them", () => {
    let reads = 0;
    const endless = ".".repeat(200_000);
    const sentences = new Sentences();
    // A text that counts how often it is looked at.
    const upTo = (length: number) =>
      new Proxy(new String(endless.slice(0, length)), {
        get: (text, sign) => {
          if (typeof sign === "string" && /^\d/.test(sign)) reads += 1;
          return Reflect.get(text, sign, text) as unknown;
        },
      }) as unknown as string;
    for (let length = 1_000; length <= endless.length; length += 1_000) sentences.endIn(upTo(length));
    expect(reads).toBe(endless.length);
  });
});

describe("the name of a node", () => {
  const ID = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z";
  it("is its id, or the address of its turn by id or short name", () => {
    expect(parseNodeReference(` ${ID} `)).toEqual({ id: ID });
    expect(parseNodeReference(`http://localhost:7420/c/conv_1/n/${ID}?pane=node`)).toEqual({ id: ID });
    expect(parseNodeReference("http://localhost:7420/c/conv_1/n/a3f?pane=node")).toEqual({
      conversation: "conv_1",
      localId: "a3f",
    });
  });
  it("is nothing else", () => {
    expect(parseNodeReference("herons")).toBeUndefined();
    expect(nodeReferenceFault("herons")).toMatch(/link/);
    expect(nodeReferenceFault("  ")).toBeUndefined();
  });
});
