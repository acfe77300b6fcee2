// As much of JSON Schema as a form needs: what kind of control a value gets, and what is wrong with it.
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  format?: string;
  examples?: unknown[];
  [more: string]: unknown;
}
export type Control = "text" | "long" | "number" | "boolean" | "choice" | "object" | "json";

export const typeOf = (schema: JsonSchema): string | undefined =>
  Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;

export function controlOf(schema: JsonSchema): Control {
  if (schema.enum) return "choice";
  const type = typeOf(schema);
  if (type === "boolean") return "boolean";
  if (type === "integer" || type === "number") return "number";
  if (type === "string")
    return (schema.maxLength ?? 0) > 200 || schema.format === "multiline" ? "long" : "text";
  if (type === "object" && schema.properties) return "object";
  return "json";
}

export function startOf(schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (controlOf(schema) === "object") {
    const required = new Set(schema.required);
    const entries = Object.entries(schema.properties ?? {}).filter(
      ([name, inner]) => required.has(name) || inner.default !== undefined,
    );
    return Object.fromEntries(
      entries.map(([name, inner]) => [name, startOf(inner)]).filter(([, value]) => value !== undefined),
    );
  }
  return undefined;
}

/** Validation errors of a value, by path: `{ "city": "is required" }`. The server has the last word. */
export function faultsOf(schema: JsonSchema, value: unknown, path = ""): Record<string, string> {
  const at = path || "value";
  if (value === undefined || value === null || value === "") return {};
  const type = typeOf(schema);
  if (schema.enum && !schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return { [at]: "must be one of the choices" };
  if ((type === "integer" || type === "number") && typeof value !== "number")
    return { [at]: "must be a number" };
  if (type === "integer" && !Number.isInteger(value)) return { [at]: "must be a whole number" };
  if (typeof value === "number" && schema.minimum !== undefined && value < schema.minimum)
    return { [at]: `must be at least ${schema.minimum}` };
  if (typeof value === "number" && schema.maximum !== undefined && value > schema.maximum)
    return { [at]: `must be at most ${schema.maximum}` };
  if (typeof value === "string" && schema.minLength !== undefined && value.length < schema.minLength)
    return { [at]: `must have at least ${schema.minLength} characters` };
  if (schema.type === "array" && !Array.isArray(value)) return { [at]: "must be a list: [ … ]" };
  const isObject = typeof value === "object" && !Array.isArray(value);
  if (schema.type === "object" && !isObject) return { [at]: "must be an object: { … }" };
  if (type !== "object" || !isObject) return {};
  const held = value as Record<string, unknown>;
  const found: Record<string, string> = {};
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const place = path ? `${path}.${name}` : name;
    const missing = held[name] === undefined || held[name] === null || held[name] === "";
    if (missing && schema.required?.includes(name)) found[place] = "is required";
    Object.assign(found, faultsOf(inner, held[name], place));
  }
  return found;
}
