// A process as it is being written: what it holds, which names a step may use, and where a broken rule belongs.
import type { Schemas } from "../../api/client";
import type { JsonSchema } from "../../ui/jsonSchema";

export type Process = Schemas["ProcessView"];
export type Step = Schemas["StepFields"];
export type Breach = Schemas["BreachView"];
export type Tool = Schemas["ToolView"];
/** The editable part of a process, without the fields the server adds. */
export interface Definition {
  name: string;
  description?: string | null;
  initialContext?: unknown;
  steps: Step[];
  outputTemplate: string;
  tokenBudget?: number | null;
  maxRecursionDepth?: number | null;
  enabled?: boolean | null;
}

export const STEPS_MAX = 100;

export const definitionOf = (process: Process): Definition => ({
  name: process.name,
  description: process.description ?? null,
  initialContext: process.initialContext ?? [],
  steps: process.steps,
  outputTemplate: process.outputTemplate,
  tokenBudget: process.tokenBudget ?? null,
  maxRecursionDepth: process.maxRecursionDepth,
  enabled: process.enabled,
});

export const blankDefinition = (): Definition => ({
  name: "",
  description: null,
  initialContext: [],
  steps: [],
  outputTemplate: "",
  tokenBudget: null,
  maxRecursionDepth: 3,
  enabled: true,
});

/** A name that none of the given has yet: `step_1`, `step_2`. */
export function freeName(stem: string, taken: Iterable<string>): string {
  const names = new Set(taken);
  for (let number = 1; ; number++) {
    if (!names.has(`${stem}_${number}`)) return `${stem}_${number}`;
  }
}

export const variableNames = (definition: Definition): string[] => [
  ...contextNames(definition.initialContext),
  ...definition.steps.flatMap((step) => [step, ...fallbackOf(step)]).map((step) => step.output.variable),
];

export const fallbackOf = (step: Step): Step[] => (step.fallback ?? []) as Step[];

export function blankStep(definition: Definition): Step {
  const ids = definition.steps.flatMap((step) => [step, ...fallbackOf(step)]).map((step) => step.id);
  return {
    id: freeName("step", ids),
    output: { variable: freeName("result", variableNames(definition)) },
    inputs: {},
  };
}

export function contextNames(context: unknown): string[] {
  if (Array.isArray(context))
    return context.filter((name): name is string => typeof name === "string" && name !== "");
  const properties = (context as JsonSchema | null | undefined)?.properties;
  return properties ? Object.keys(properties) : [];
}

/** The initial context as a schema for a form: names alone take anything, and all of them are needed. */
export function contextSchema(context: unknown): JsonSchema {
  if (!Array.isArray(context)) return (context as JsonSchema | null) ?? { type: "object", properties: {} };
  const names = contextNames(context);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { description: "Text, or JSON" }])),
    required: names,
  };
}

/** Dependencies of each step, computed as the server does. */
export function dependencies(steps: readonly Step[]): number[][] {
  const isParallel = (at: number) => steps[at]?.execution?.mode === "parallel";
  return steps.map((step, at) => {
    const named = (step.dependsOn ?? []) as string[];
    const found = new Set(
      named.map((id) => steps.findIndex((other) => other.id === id)).filter((dep) => dep >= 0 && dep < at),
    );
    let last = at - 1;
    while (last >= 0 && isParallel(last)) last--;
    if (isParallel(at)) {
      if (!step.dependsOn && last >= 0) found.add(last);
    } else if (last === at - 1) {
      if (last >= 0) found.add(last);
    } else {
      for (let before = last + 1; before < at; before++) found.add(before);
    }
    return [...found].sort((a, b) => a - b);
  });
}

/** Something that can stand in an input: `{topic}`, `{step.draft.text}`. */
export interface Place {
  text: string;
  from: string;
}

/** Every place a step may name: the initial context and the outputs on the way to it. */
export function placesFor(
  definition: Definition,
  at: number,
  outputSchema: (step: Step) => JsonSchema | undefined,
): Place[] {
  const context = contextNames(definition.initialContext).map((name) => ({
    text: `{${name}}`,
    from: "initial context",
  }));
  const waits = dependencies(definition.steps);
  const seen = new Set<number>();
  const look = (index: number) => {
    for (const dep of waits[index] ?? []) {
      if (seen.has(dep)) continue;
      seen.add(dep);
      look(dep);
    }
  };
  if (at >= definition.steps.length) definition.steps.forEach((_, index) => seen.add(index));
  else look(at);
  const outputs = [...seen]
    .sort((a, b) => a - b)
    .flatMap((index) => {
      const step = definition.steps[index];
      if (!step) return [];
      const base = `step.${step.output.variable}`;
      const from = step.name || step.id;
      const members = Object.keys(outputSchema(step)?.properties ?? {});
      return [base, ...members.map((member) => `${base}.${member}`)].map((text) => ({
        text: `{${text}}`,
        from,
      }));
    });
  return [...context, ...outputs];
}

/** As the output template writes the same place: `{{draft.text}}`. */
export const templatePlace = (place: string): string => `{{${place.slice(1, -1).replace(/^step\./, "")}}}`;
