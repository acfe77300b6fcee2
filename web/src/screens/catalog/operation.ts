// What a tool does, as people fill it in: the places for inputs that it mentions, and a schema of these.
import type { JsonSchema } from "../../ui/jsonSchema";

export type Operation = Record<string, unknown> & { type?: string };
export interface Input {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "object" | "array";
  required: boolean;
  description: string;
}

/** The operation a new tool begins with. */
export function blankOperation(type: string): Operation {
  if (type === "rest_call") return { type, method: "GET", path: "/" };
  if (type === "llm_call") return { type, promptTemplate: "{{message}}" };
  if (type === "mcp_tool") return { type, tool: "", arguments: {} };
  return { type, query: "MATCH (n) RETURN n LIMIT 10" };
}

/** The inputs an operation mentions: `{{name}}`, `$name` in a graph query, and where messages come from. */
export function variablesOf(operation: Operation): string[] {
  const found = new Set<string>();
  if (operation.type === "graph_query") {
    for (const [, name] of String(operation.query ?? "").matchAll(/\$([A-Za-z_]\w*)/g)) found.add(name ?? "");
    return [...found];
  }
  if (typeof operation.messagesFrom === "string" && operation.messagesFrom) found.add(operation.messagesFrom);
  const look = (value: unknown): void => {
    if (typeof value === "string")
      for (const [, name] of value.matchAll(/\{\{\s*([A-Za-z_][\w-]*)(?:\.[\w.-]+)?\s*\}\}/g))
        found.add(name ?? "");
    else if (value !== null && typeof value === "object") Object.values(value).forEach(look);
  };
  look(operation);
  return [...found];
}

/** A row for every input: those the schema has, and those it lacks. */
export function inputsOf(schema: JsonSchema, variables: string[]): Input[] {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([name, inner]): Input => {
    const type = Array.isArray(inner.type) ? inner.type[0] : inner.type;
    const known = ["string", "integer", "number", "boolean", "object", "array"].includes(String(type));
    return {
      name,
      type: known ? (type as Input["type"]) : "string",
      required: required.has(name),
      description: inner.description ?? inner.title ?? "",
    };
  });
  const there = new Set(rows.map(({ name }) => name));
  const lacking = variables.filter((name) => !there.has(name));
  return [
    ...rows,
    ...lacking.map((name): Input => ({ name, type: "string", required: true, description: "" })),
  ];
}

/** The schema with these rows; what rows cannot say of an input stays. */
export function schemaOf(rows: Input[], before: JsonSchema): JsonSchema {
  const properties = rows.map(({ name, type, description }): [string, JsonSchema] => {
    const held: JsonSchema = { ...(before.properties?.[name] ?? {}) };
    if (type !== held.type) held.type = type;
    if (description && description !== held.title) held.description = description;
    else if (!description) delete held.description;
    return [name, held];
  });
  return {
    ...before,
    type: "object",
    properties: Object.fromEntries(properties),
    required: rows.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: before.additionalProperties ?? false,
  };
}

/** Names and values as rows, for a query and headers. */
export interface Pair {
  name: string;
  value: string;
}
export const pairsOf = (value: unknown): Pair[] =>
  Object.entries((value as Record<string, unknown> | undefined) ?? {}).map(([name, held]) => ({
    name,
    value: typeof held === "string" ? held : JSON.stringify(held),
  }));
export function fromPairs(pairs: Pair[]): Record<string, string> | undefined {
  const named = pairs.filter(({ name }) => name.trim() !== "");
  return named.length > 0
    ? Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]))
    : undefined;
}

/** A body as it was typed: JSON where it is JSON, else text. */
export function bodyOf(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
export const shownBody = (body: unknown): string =>
  body === undefined || body === null ? "" : typeof body === "string" ? body : JSON.stringify(body, null, 2);

/** JSON somebody types: what it says, or what is wrong with it. */
export function parsed(text: string): { value?: unknown; fault?: string } {
  if (text.trim() === "") return {};
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
