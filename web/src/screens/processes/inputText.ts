// An input as it is typed: text stays text, and what is meant as JSON becomes JSON once it is whole.
import { typeOf, type JsonSchema } from "../../ui/jsonSchema";

export const shownInput = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** Parses an input; undefined for an empty field. */
export function readInput(text: string, schema: JsonSchema | undefined): unknown {
  if (text.trim() === "") return undefined;
  const type = schema && typeOf(schema);
  if (type === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
