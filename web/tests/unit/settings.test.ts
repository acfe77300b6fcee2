import { describe, expect, it } from "vitest";
import { bindings, type Binding } from "../../src/keys/bindings";
import { isSingle } from "../../src/keys/chord";
import { configurationOf, shownBytes } from "../../src/screens/settings/configuration";
import { presetAt, presetOf, type Preset, type Presets } from "../../src/state/presets";
import { conflictsOf, isKept, isModifier } from "../../src/screens/settings/conflicts";
import { grouped, kindOf, numberFault, wordsOf, type Setting } from "../../src/screens/settings/installation";

const keysOf = (binding: Binding) => binding.keys;

describe("keys", () => {
  it("of the table do not clash", () => {
    for (const binding of bindings)
      expect(conflictsOf(binding, bindings, keysOf).filter(({ isClash }) => isClash)).toEqual([]);
  });
  it("clash in one place, and are shadowed by a screen", () => {
    const one: Binding = { id: "map.a", keys: ["x"], where: "map", what: "A" };
    const two: Binding = { id: "map.b", keys: ["x", "y"], where: "map", what: "B" };
    const wide: Binding = { id: "everywhere.c", keys: ["x"], where: "everywhere", what: "C" };
    const far: Binding = { id: "runs.d", keys: ["x"], where: "runs", what: "D" };
    const found = conflictsOf(one, [one, two, wide, far], keysOf);
    expect(found.map(({ with: other, isClash }) => [other.id, isClash])).toEqual([
      ["map.b", true],
      ["everywhere.c", false],
    ]);
  });
  it("reserved by the browser are refused", () => {
    for (const chord of ["Mod+w", "Mod+r", "Mod+Shift+n", "Tab", "Escape", "Alt+ArrowLeft"])
      expect(isKept(chord)).toBe(true);
    for (const chord of ["Mod+k", "Mod+Shift+f", "j", "F2"]) expect(isKept(chord)).toBe(false);
    expect(isModifier("Shift")).toBe(true);
  });
  it("of one letter can be switched off, capital or not", () => {
    for (const chord of ["j", "Shift+g", "?", "["]) expect(isSingle(chord)).toBe(true);
    for (const chord of ["Mod+k", "Enter", "ArrowUp", "Shift+Enter"]) expect(isSingle(chord)).toBe(false);
  });
});

describe("settings of the installation", () => {
  const setting = (changes: Partial<Setting>): Setting => ({
    name: "operations.keptDays",
    value: 7,
    default: 7,
    min: 2,
    max: 365,
    hash: null,
    version: null,
    description: "",
    ...changes,
  });
  it("get a control by their type", () => {
    expect(kindOf(setting({}))).toBe("number");
    expect(kindOf(setting({ default: true, min: null, max: null }))).toBe("boolean");
    expect(kindOf(setting({ name: "summaries.tool", default: null, min: null, max: null }))).toBe("tool");
    expect(kindOf(setting({ name: "x.y", default: null, min: null, max: null }))).toBe("json");
  });
  it("read as words, by group", () => {
    expect(wordsOf("summaries.treeNodes")).toEqual({ group: "Summaries", label: "Tree nodes" });
    expect(grouped([setting({}), setting({ name: "workers.lostMax" })]).map(({ group }) => group)).toEqual([
      "Operations",
      "Workers",
    ]);
  });
  it("say what is wrong with a number", () => {
    expect(numberFault(setting({}), "1.5")).toContain("whole");
    expect(numberFault(setting({}), "1")).toContain("at least 2");
    expect(numberFault(setting({}), "999")).toContain("at most 365");
    expect(numberFault(setting({}), "14")).toBeUndefined();
  });
});

describe("a configuration that is taken along", () => {
  it("has what is one's own, as it was set up, and of secrets the names alone", () => {
    const entry = (id: string, ownerId: string) => ({
      id,
      ownerId,
      name: id,
      status: "down",
      errorMessage: "x",
    });
    const lists = {
      services: [entry("mine", "ada"), entry("shared", "bert")],
      tools: [],
      processes: [],
      serviceTemplates: [],
      toolTemplates: [],
      secrets: [{ id: "s", name: "Key", type: "api_key", value: "never", valueVersion: 2 }],
    } as unknown as Parameters<typeof configurationOf>[0];
    const found = configurationOf(lists, [{ name: "a", value: 1 }], "ada", new Date(0));
    expect(found.services).toEqual([{ id: "mine", ownerId: "ada", name: "mine" }]);
    expect(found.secrets).toEqual([{ id: "s", name: "Key", type: "api_key" }]);
    expect(JSON.stringify(found)).not.toContain("never");
    expect(found.settings).toEqual([{ name: "a", value: 1 }]);
  });
  it("says sizes as people do", () =>
    expect([0, 999, 1000, 45_600, 2_340_000].map(shownBytes)).toEqual([
      "0 bytes",
      "999 bytes",
      "1.0 kB",
      "46 kB",
      "2.3 MB",
    ]));
});

describe("presets", () => {
  const usable = ["chat", "memory"].map((id) => ({ id }));
  const at = (preset: Preset, chosen: Presets) => presetAt(preset, chosen, usable)?.id;
  it("stand for the list until something is put on them", () => {
    expect([at("1", {}), at("2", {}), at("3", {})]).toEqual(["chat", "memory", undefined]);
    expect(at("1", { "1": "memory" })).toBe("memory");
    // A process that can no longer answer is ignored.
    expect(at("2", { "2": "gone" })).toBe("memory");
  });
  it("tell the first number of a process", () => {
    expect(presetOf("memory", { "1": "memory" }, usable)).toBe("1");
    expect(presetOf("chat", { "1": "memory" }, usable)).toBeUndefined();
  });
});
