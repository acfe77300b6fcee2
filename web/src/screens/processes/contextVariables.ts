// The initial context as rows of a form, as long as a form can say it.
import type { JsonSchema } from "../../ui/jsonSchema";
import { typeOf } from "../../ui/jsonSchema";

export type Kind = "any" | "text" | "long" | "number" | "integer" | "boolean" | "list" | "object" | "choice";
export const KINDS: { value: Kind; label: string }[] = [
  { value: "text", label: "Text" },
  { value: "long", label: "Long text" },
  { value: "integer", label: "Whole number" },
  { value: "number", label: "Number" },
  { value: "boolean", label: "Yes or no" },
  { value: "choice", label: "One of…" },
  { value: "list", label: "List" },
  { value: "object", label: "Object" },
  { value: "any", label: "Anything" },
];
export interface Variable {
  name: string;
  kind: Kind;
  title: string;
  required: boolean;
  /** Of a choice, with commas. */
  choices?: string;
  /** Members of its schema that the form does not show; they stay. */
  more?: JsonSchema;
}

const LONG = 4000;
const TYPES: Record<Exclude<Kind, "any" | "choice">, JsonSchema> = {
  text: { type: "string" },
  long: { type: "string", maxLength: LONG },
  number: { type: "number" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  list: { type: "array" },
  object: { type: "object" },
};

/** The rows; nothing if there is more to it than rows can show. */
export function variablesOf(context: unknown): Variable[] | undefined {
  if (context === undefined || context === null) return [];
  if (Array.isArray(context)) {
    if (!context.every((name) => typeof name === "string")) return undefined;
    return context.map((name: string) => ({ name, kind: "any" as const, title: "", required: true }));
  }
  if (typeof context !== "object") return undefined;
  const { type, properties, required, additionalProperties, ...rest } = context as JsonSchema;
  if ((type !== undefined && type !== "object") || Object.keys(rest).length > 0) return undefined;
  if (additionalProperties !== undefined) return undefined;
  const needed = new Set(required);
  return Object.entries(properties ?? {}).map(([name, schema]) => rowOf(name, schema, needed.has(name)));
}

function rowOf(name: string, schema: JsonSchema, required: boolean): Variable {
  const { title, ...rest } = schema;
  const row = { name, title: title ?? "", required };
  if (schema.enum?.every((one) => typeof one === "string")) {
    const { enum: choices, type: _, ...more } = rest;
    return { ...row, kind: "choice", choices: choices?.join(", "), more };
  }
  const { type: _, maxLength, ...more } = rest;
  const kind = kindOf(schema);
  const kept = maxLength !== undefined && maxLength !== LONG ? { ...more, maxLength } : more;
  return { ...row, kind, more: kept };
}

function kindOf(schema: JsonSchema): Kind {
  const type = typeOf(schema);
  if (type === "string") return (schema.maxLength ?? 0) > 200 ? "long" : "text";
  if (type === "number" || type === "integer" || type === "boolean" || type === "object") return type;
  return type === "array" ? "list" : "any";
}

/** The rows for the server: a list of names if nothing else is set, else a JSON Schema. */
export function contextOf(variables: readonly Variable[]): unknown {
  const plain = ({ kind, title, required, more }: Variable) =>
    kind === "any" && !title && required && Object.keys(more ?? {}).length === 0;
  if (variables.every(plain)) return variables.map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(variables.map((variable) => [variable.name, schemaOf(variable)])),
    required: variables.filter(({ required }) => required).map(({ name }) => name),
  };
}

function schemaOf({ kind, title, choices, more }: Variable): JsonSchema {
  const named = title ? { title } : {};
  if (kind === "any") return { ...more, ...named };
  if (kind !== "choice") return { ...TYPES[kind], ...more, ...named };
  const all = (choices ?? "")
    .split(",")
    .map((choice) => choice.trim())
    .filter(Boolean);
  return { ...more, ...named, enum: all };
}
