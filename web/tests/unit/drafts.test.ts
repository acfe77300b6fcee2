import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Editor } from "../../src/screens/processes/editor.svelte";
import { blankDefinition, type Process } from "../../src/screens/processes/definition";
import { draft, dropDraft } from "../../src/state/drafts";
import { Form } from "../../src/state/form.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const place of ["tool/new", "tool/1", "process/1", "process/new"]) dropDraft(place);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a form", () => {
  const first = { name: "Gauge", description: "" };
  it("knows what its draft was made from, however new the rest is", () => {
    const form = new Form("tool/1", first, "hash1");
    form.value.description = "Of the inlet";
    form.keep();
    expect(new Form("tool/1", { name: "Gauge 2", description: "" }, "hash2").base).toBe("hash1");
    form.reset();
    expect(new Form("tool/1", first, "hash2").base).toBe("hash2");
  });
  it("keeps what is typed while it is sent, as a change of what was saved", () => {
    const form = new Form("tool/new", first);
    form.value.name = "Gauge 1";
    const sent = { ...form.value };
    form.value.description = "Typed meanwhile";
    const saved = { name: "Gauge 1", description: "From the template" };
    const isWhole = form.taken(sent, { value: saved, base: "hash1", place: "tool/1" });
    expect(isWhole).toBe(false);
    expect(form.value).toEqual({ name: "Gauge 1", description: "Typed meanwhile" });
    expect(draft("tool/new", undefined)).toBeUndefined();
    expect(new Form("tool/1", saved, "hash1").value.description).toBe("Typed meanwhile");
  });
  it("has nothing left to keep once all of it is taken", () => {
    const form = new Form("tool/1", first, "hash1");
    form.value.name = "Gauge 1";
    form.keep();
    const sent = { ...form.value };
    expect(form.taken(sent, { value: sent, base: "hash2", place: "tool/1" })).toBe(true);
    expect([form.base, draft("tool/1", undefined)]).toEqual(["hash2", undefined]);
  });
});

describe("the editor of a process", () => {
  const process = (name: string, hash: string) =>
    ({ ...blankDefinition(), id: "1", name, hash, version: 1, enabled: true }) as unknown as Process;
  /** A server that answers when it is told to. */
  function serve() {
    let answer: (name: string) => void = () => undefined;
    vi.stubGlobal("fetch", async (_: unknown, init: RequestInit) => {
      if (init.method === "POST") return Response.json({ breaches: [] });
      if (init.method !== "PUT") return Response.json(process("Say it", "hash1"));
      return new Promise<Response>((resolve) => {
        answer = (name) => resolve(Response.json(process(name, "hash2")));
      });
    });
    return (name: string) => answer(name);
  }
  it("keeps what is written while it is saved", async () => {
    const answer = serve();
    const editor = new Editor("1");
    await editor.load();
    editor.definition.name = "Say it twice";
    const saving = editor.save();
    editor.definition.name = "Say it three times";
    await vi.advanceTimersByTimeAsync(0);
    answer("Say it twice");
    await saving;
    expect(editor.definition.name).toBe("Say it three times");
    expect(editor.isDirty).toBe(true);
    expect(draft<{ hash: string } | undefined>("process/1", undefined)?.hash).toBe("hash2");
  });
  it("is not saved while something in it cannot be read", async () => {
    serve();
    const editor = new Editor("1");
    await editor.load();
    editor.stand("raw", "{");
    expect(await editor.save()).toBeUndefined();
    expect([editor.isDirty, editor.isValid]).toEqual([true, false]);
    const again = new Editor("1");
    await again.load();
    expect(again.unread("raw")).toBe("{");
  });
  it("keeps what cannot be read with its step, however that is called and wherever it goes", async () => {
    serve();
    const editor = new Editor("1");
    await editor.load();
    const asks = (id: string) => ({
      id,
      ask: { prompt: "?", schema: { title: id } },
      output: { variable: id },
    });
    const written = (...ids: string[]) => ({ ...blankDefinition(), name: "Ask", steps: ids.map(asks) });
    editor.replace(written("first", "second"));
    const texts = () => editor.definition.steps.map(({ id, unread }) => [id, unread]);
    const [first] = editor.definition.steps;
    if (first) Object.assign(first, { unread: "{", id: "second" });
    editor.changed();
    expect(texts()).toEqual([
      ["second", "{"],
      ["second", undefined],
    ]);
    editor.definition.steps.reverse();
    editor.changed();
    const again = new Editor("1");
    await again.load();
    expect(again.definition.steps.map(({ unread }) => unread)).toEqual([undefined, "{"]);
    expect(again.isValid).toBe(false);
    // Another definition takes it along where the same is asked for, and only there.
    editor.replace(written("other", "second"));
    expect(texts()).toEqual([
      ["other", undefined],
      ["second", undefined],
    ]);
    const [, second] = editor.definition.steps;
    if (second) second.unread = "[";
    editor.replace(written("second", "other"));
    expect(texts()).toEqual([
      ["second", "["],
      ["other", undefined],
    ]);
  });
});
