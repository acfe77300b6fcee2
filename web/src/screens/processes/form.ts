// The definition as the form holds it: what may be missing is there, so that controls can be bound to it.
import type { Schemas } from "../../api/client";
import type { Unread } from "../../ui/json";
import type { Definition, Step } from "./definition";

export interface FormStep extends Step {
  execution: Schemas["StepExecutionFields"];
  inputs: Record<string, unknown>;
  output: Schemas["StepOutputFields"];
  fallback: FormStep[];
  abortWhen: string[];
  tools: Schemas["OfferFields"][];
  /** Invalid JSON in the description of the answer; not saved with the definition. */
  unread?: string;
}
export interface FormDefinition extends Definition {
  steps: FormStep[];
}

export function formStep(step: Step): FormStep {
  return {
    ...step,
    inputs: { ...step.inputs },
    output: { required: true, ...step.output },
    execution: { mode: "sequential", interactionMode: "auto", ...step.execution },
    fallback: (step.fallback ?? []).map((one) => formStep(one)),
    abortWhen: [...(step.abortWhen ?? [])],
    tools: (step.tools ?? []).map((offer) => ({ ...offer })),
  };
}

export const formOf = (definition: Definition): FormDefinition => ({
  ...definition,
  steps: (definition.steps ?? []).map(formStep),
});

/** Steps that ask, fallbacks too, by the place where they stand. */
const asking = ({ steps }: FormDefinition): [place: string, step: FormStep][] =>
  steps.flatMap((step, at) =>
    [step, ...step.fallback].flatMap((one, index): [string, FormStep][] =>
      one.ask ? [[index === 0 ? `answer/${at}` : `answer/${at}/${index - 1}`, one]] : [],
    ),
  );

/** Invalid JSON in the answer forms of steps, by field. */
export const unreadAnswers = (definition: FormDefinition): Unread =>
  Object.fromEntries(
    asking(definition).flatMap(([place, { unread }]) => (unread === undefined ? [] : [[place, unread]])),
  );

/** Puts it where it stood, in the definition that was kept with it. */
export function putUnread(definition: FormDefinition, unread: Unread): void {
  for (const [place, step] of asking(definition)) step.unread = unread[place];
}

/** Carries it into a rewritten definition: to the step of the same name with the same question. */
export function carryUnread(from: FormDefinition, into: FormDefinition): void {
  const before = asking(from).filter(([, { unread }]) => unread !== undefined);
  for (const [, step] of asking(into)) {
    const same = before.find(([, { id, ask }]) => id === step.id && isAlike(ask?.schema, step.ask?.schema));
    step.unread = same?.[1].unread;
  }
}

const isNothing = (value: unknown) => value === undefined || value === null || value === "";
function stripped<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => !isNothing(inner))) as Partial<T>;
}

/** A step as it is kept: nothing that is the rule anyway. */
export function cleanStep(step: Step): Step {
  const { mode, interactionMode, ...execution } = stripped(step.execution ?? {});
  const rules = {
    ...(mode && mode !== "sequential" ? { mode } : {}),
    ...execution,
    ...(interactionMode && interactionMode !== "auto" ? { interactionMode } : {}),
  };
  const { required, ...output } = stripped(step.output);
  const clean: Step = {
    ...(stripped({
      id: step.id,
      name: step.name,
      toolId: step.toolId,
      toolVersion: step.toolVersion,
      processId: step.processId,
    }) as Step),
    id: step.id,
    output: { ...output, variable: step.output.variable, ...(required === false ? { required } : {}) },
  };
  if (step.ask) clean.ask = step.ask;
  if (!step.ask && Object.keys(step.inputs ?? {}).length > 0) clean.inputs = step.inputs;
  if (Object.keys(rules).length > 0) clean.execution = rules;
  if (step.dependsOn) clean.dependsOn = step.dependsOn;
  if (step.review) clean.review = stripped(step.review);
  if (step.retry) clean.retry = { ...stripped(step.retry), maxRetries: step.retry.maxRetries };
  if (step.fallback?.length) clean.fallback = step.fallback.map(cleanStep);
  if (step.abortWhen?.length) clean.abortWhen = step.abortWhen;
  if (step.tools?.length)
    clean.tools = step.tools.map((offer) => ({ ...stripped(offer), toolId: offer.toolId }));
  const limits = step.toolLimits && stripped(step.toolLimits);
  if (limits && Object.keys(limits).length > 0) clean.toolLimits = limits;
  return clean;
}

/** The definition as it is sent, shown raw and compared. */
export const cleaned = (definition: Definition): Definition => ({
  name: definition.name,
  ...(isNothing(definition.description) ? {} : { description: definition.description }),
  initialContext: definition.initialContext ?? [],
  steps: definition.steps.map(cleanStep),
  outputTemplate: definition.outputTemplate,
  ...(isNothing(definition.tokenBudget) ? {} : { tokenBudget: definition.tokenBudget }),
  ...(isNothing(definition.maxRecursionDepth) || definition.maxRecursionDepth === 3
    ? {}
    : { maxRecursionDepth: definition.maxRecursionDepth }),
});

export const isSame = (a: Definition, b: Definition): boolean => isAlike(cleaned(a), cleaned(b));

/** True if two values are equal regardless of the order of their members. */
export const isAlike = (a: unknown, b: unknown): boolean =>
  JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));

/** Members in one order, so that equal things are written alike. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]));
}
