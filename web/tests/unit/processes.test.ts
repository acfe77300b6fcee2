import { describe, expect, it } from "vitest";
import { placed } from "../../src/screens/processes/breaches";
import {
  blankDefinition,
  blankStep,
  contextSchema,
  dependencies,
  placesFor,
  templatePlace,
  type Definition,
  type Step,
} from "../../src/screens/processes/definition";
import { laidOut, ranks, towards } from "../../src/screens/processes/graph";
import { initialValues } from "../../src/screens/processes/runDraft";
import { standInFor } from "../../src/state/standIn";
import type { JsonSchema } from "../../src/ui/jsonSchema";
import { readInput, shownInput } from "../../src/screens/processes/inputText";

const step = (id: string, more: Partial<Step> = {}): Step => ({
  id,
  output: { variable: `v_${id}` },
  ...more,
});
const parallel = (id: string, more: Partial<Step> = {}) =>
  step(id, { execution: { mode: "parallel" }, ...more });
const of = (...steps: Step[]): Definition => ({ ...blankDefinition(), initialContext: ["topic"], steps });

describe("dependencies of steps", () => {
  it("puts sequential steps one after another", () =>
    expect(dependencies([step("a"), step("b"), step("c")])).toEqual([[], [0], [1]]));
  it("lets parallel steps begin together and the next one wait for all of them", () =>
    expect(dependencies([step("a"), parallel("b"), parallel("c"), step("d")])).toEqual([
      [],
      [0],
      [0],
      [1, 2],
    ]));
  it("follows names", () =>
    expect(dependencies([step("a"), step("b"), parallel("c", { dependsOn: ["a"] })])).toEqual([
      [],
      [0],
      [0],
    ]));
  it("layers them", () => {
    expect(ranks([step("a"), parallel("b"), parallel("c"), step("d")])).toEqual([0, 1, 1, 2]);
    const graph = laidOut([step("a"), parallel("b"), parallel("c"), step("d")]);
    expect(graph.boxes[1]?.y).toBe(graph.boxes[2]?.y);
    expect(graph.lines).toHaveLength(4);
  });
  it("leads by arrows from layer to layer and inside one", () => {
    const graph = laidOut([step("a"), parallel("b"), parallel("c"), step("d")]);
    expect(towards(graph, 1, "ArrowRight")).toBe(2);
    expect(towards(graph, 1, "ArrowLeft")).toBeUndefined();
    expect([towards(graph, 1, "ArrowUp"), towards(graph, 2, "ArrowDown")]).toEqual([0, 3]);
    expect(towards(graph, 1, "x")).toBeUndefined();
  });
});

describe("the draft of a run", () => {
  const schema = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: "object", properties });
  const asked = schema({ day: { type: "string" }, count: { type: "integer" }, gone: {} });
  const typed = { value: { day: "Monday", count: 3, gone: "away" }, unread: "{", asked };
  it("is offered again whole while the process asks for the same", () =>
    expect(
      initialValues(schema({ gone: {}, count: { type: "integer" }, day: { type: "string" } }), typed),
    ).toEqual({
      value: typed.value,
      unread: "{",
      left: [],
    }));
  it("is offered as far as it fits, and what is not read yet, when the process asks for something else", () => {
    const now = schema({ day: { type: "string" }, count: { type: "string" }, far: { default: 2 } });
    expect(initialValues(now, typed)).toMatchObject({ value: { day: "Monday", far: 2 }, unread: "{" });
    expect(initialValues(schema({ day: { enum: ["Sunday"] } }), typed)).toMatchObject({
      value: {},
      unread: "{",
    });
  });
  it("is shown with the reason where it does not fit, and taken again where it does later", () => {
    const now = schema({ day: { enum: ["Sunday"] }, count: { type: "string" } });
    const { value, left } = initialValues(now, typed);
    expect(left).toEqual([
      { name: "day", value: "Monday", why: "must be one of the choices" },
      { name: "count", value: 3, why: "must be text" },
      { name: "gone", value: "away", why: "is no longer an input" },
    ]);
    const kept = { value: { ...value, count: "four" }, asked: now, left };
    expect(initialValues(now, kept)).toEqual({ value: { count: "four" }, unread: undefined, left });
    const again = initialValues(schema({ day: { type: "string" }, count: { type: "string" } }), kept);
    expect(again.value).toEqual({ day: "Monday", count: "four" });
    expect(again.left.map(({ name }) => name)).toEqual(["gone"]);
  });
});

describe("places", () => {
  it("are the context and the outputs on the way", () => {
    const found = placesFor(of(step("a"), step("b"), step("c")), 1, () => ({ properties: { text: {} } }));
    expect(found.map(({ text }) => text)).toEqual(["{topic}", "{step.v_a}", "{step.v_a.text}"]);
  });
  it("are all of them for the answer", () => {
    const found = placesFor(of(step("a"), step("b")), 2, () => undefined);
    expect(found.map(({ text }) => templatePlace(text))).toEqual(["{{topic}}", "{{v_a}}", "{{v_b}}"]);
  });
  it("makes a form of names", () => expect(contextSchema(["a"]).required).toEqual(["a"]));
  it("finds names that are free", () => {
    const next = blankStep(of(step("step_1", { output: { variable: "result_1" } })));
    expect([next.id, next.output.variable]).toEqual(["step_2", "result_2"]);
  });
});

describe("broken rules", () => {
  const definition = of(step("a"), step("b"));
  const at = (rule: string, problem: string) =>
    placed([{ rule, problem, remedy: "" }], definition).map(({ step, part }) => [step, part]);
  it("stand beside their field", () => {
    expect(at("BR-STEP-005", "step 2: execution.timeout is 900; it is from 1 to 300")).toEqual([
      [1, "timeout"],
    ]);
    expect(at("BR-PROCESS-005", "the outputTemplate cannot be used: {{x}}")).toEqual([
      [undefined, "outputTemplate"],
    ]);
    expect(at("BR-PROCESS-001", "a process has at least one step")).toEqual([[undefined, "steps"]]);
    expect(at("BR-PROCESS-003", 'step 2 ("b") depends on "z", which is none of the process')).toEqual([
      [1, "order"],
    ]);
    expect(at("BR-STEP-007", "step 1: a step has a target, and this one has none")).toEqual([[0, "target"]]);
  });
  it("are told at each step they name", () =>
    expect(at("BR-STEP-001", "Step 1 gives no value; Step 2 gives no page")).toEqual([
      [0, "inputs"],
      [1, "inputs"],
    ]));
});

describe("inputs", () => {
  it("keep text and read JSON", () => {
    expect(readInput("42", { type: "string" })).toBe("42");
    expect(readInput("42", { type: "integer" })).toBe(42);
    expect(readInput("{step.n}", { type: "integer" })).toBe("{step.n}");
    expect(readInput('{"a": "{topic}"}', {})).toEqual({ a: "{topic}" });
    expect(readInput(" ", {})).toBeUndefined();
    expect(shownInput({ a: 1 })).toContain('"a": 1');
  });
});

describe("a process that stands in for the wanted one", () => {
  const list = [
    { id: "a", name: "Chat", enabled: true, archived: false },
    { id: "b", name: "Chat with heron", enabled: true, archived: false },
    { id: "c", name: "Off", enabled: false, archived: false },
    { id: "d", name: "Gone", enabled: false, archived: true },
  ];
  const chosen = (id: string, problem: string | null = null) => ({ chosen: { id, name: "Chosen" }, problem });
  it("is not needed while the conversation's process or the default can answer", () => {
    expect(standInFor("b", chosen("c", "it is disabled"), list)).toBeUndefined();
    expect(standInFor(null, chosen("b"), list)).toBeUndefined();
    expect(standInFor(undefined, { chosen: null, problem: null }, list)).toBeUndefined();
  });
  it("is explained by the process that answered here last, before the default", () => {
    const wanted = { name: "Off", reason: "it is disabled" };
    expect(standInFor("c", chosen("b"), list)).toEqual(wanted);
    expect(standInFor("d", chosen("b"), list)?.reason).toBe("it was deleted");
  });
  it("is explained by the default, which can be used anyway unless it is disabled", () => {
    const down = chosen("b", "its tool: down");
    expect(standInFor(null, down, list)).toEqual({
      name: "Chat with heron",
      reason: "its tool: down",
      id: "b",
    });
    expect(standInFor(null, chosen("c", "the process is disabled"), list)?.id).toBeUndefined();
    expect(standInFor(null, chosen("x", "the process was deleted"), list)?.name).toBe("Chosen");
  });
});
