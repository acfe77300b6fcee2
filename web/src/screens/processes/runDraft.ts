// What was typed for a run and not started: offered again as far as the process still asks for it.
import { faultsOf, startOf, type JsonSchema } from "../../ui/jsonSchema";
import { isAlike } from "./form";

type Values = Record<string, unknown>;
export interface Typed {
  value?: Values;
  /** Text that cannot be read yet. */
  unread?: string;
  /** What the process asked for when it was typed. */
  asked?: JsonSchema;
}

/** What the form begins with. Of what was typed for another version, what still fits is taken. */
export function offered(schema: JsonSchema, typed: Typed): { value: Values; unread?: string } {
  const start = (startOf(schema) ?? {}) as Values;
  if (isAlike(typed.asked, schema)) return { value: typed.value ?? start, unread: typed.unread };
  const fits = ([name, value]: [string, unknown]) => {
    const asked = schema.properties?.[name];
    return asked !== undefined && Object.keys(faultsOf(asked, value)).length === 0 && isOfKind(asked, value);
  };
  const value = { ...start, ...Object.fromEntries(Object.entries(typed.value ?? {}).filter(fits)) };
  return { value, unread: typed.unread };
}

/** Forms show texts as texts; a number that is a text now would be refused. */
const isOfKind = ({ type }: JsonSchema, value: unknown): boolean =>
  (type !== "string" || typeof value === "string") && (type !== "boolean" || typeof value === "boolean");
