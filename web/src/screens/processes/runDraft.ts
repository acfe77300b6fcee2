// Keeps the typed inputs of a run that was not started and offers them again if they still fit.
import { faultsOf, startOf, type JsonSchema } from "../../ui/jsonSchema";
import { isAlike } from "./form";

type Values = Record<string, unknown>;
/** A value that was typed for another version and has no place in this one. */
export interface DroppedValue {
  name: string;
  value: unknown;
  why: string;
}
export interface RunDraft {
  value?: Values;
  /** Text that cannot be read yet. */
  unread?: string;
  /** Inputs of the process at the time of typing. */
  asked?: JsonSchema;
  left?: DroppedValue[];
}
export interface InitialValues {
  value: Values;
  unread?: string;
  left: DroppedValue[];
}

/** Initial values of the form: typed values that still fit; the others are listed beside it. */
export function initialValues(schema: JsonSchema, typed: RunDraft): InitialValues {
  const start = (startOf(schema) ?? {}) as Values;
  const { value = start, unread, left = [] } = typed;
  if (isAlike(typed.asked, schema)) return { value, unread, left };
  const before = { ...Object.fromEntries(left.map(({ name, value }) => [name, value])), ...typed.value };
  const judged = Object.entries(before).map(([name, value]) => ({
    name,
    value,
    why: misfit(schema, name, value),
  }));
  const fitting = judged.filter(({ why }) => why === undefined).map(({ name, value }) => [name, value]);
  return {
    value: { ...start, ...Object.fromEntries(fitting) },
    unread,
    left: judged.flatMap(({ name, value, why }) => (why === undefined ? [] : { name, value, why })),
  };
}

/** Reason why a value does not fit this input. */
function misfit(schema: JsonSchema, name: string, value: unknown): string | undefined {
  const asked = schema.properties?.[name];
  return asked === undefined
    ? "is no longer an input"
    : (Object.values(faultsOf(asked, value))[0] ?? otherKind(asked, value));
}

/** Forms show texts as texts; a number that is a text now would be refused. */
function otherKind({ type }: JsonSchema, value: unknown): string | undefined {
  if (type === "string" && typeof value !== "string") return "must be text";
  if (type === "boolean" && typeof value !== "boolean") return "must be true or false";
  return undefined;
}

export const shownValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
