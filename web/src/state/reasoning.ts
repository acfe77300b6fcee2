// Reads the reasoning of a model from the raw response. No model receives it.
import { send } from "../api/client";

/** Reads it from an item that holds a model's answer as it was received. */
export async function reasoningIn(rawResponseId: string, signal?: AbortSignal): Promise<string> {
  const answer = await send(`/api/v1/items/${rawResponseId}/payload`, { method: "GET", signal });
  return reasoningOf(await answer.text());
}

/** Headers, a blank line, the body: one document, or a stream of them. */
export function reasoningOf(raw: string): string {
  const blank = raw.indexOf("\n\n");
  const body = blank < 0 ? raw : raw.slice(blank + 2);
  return documents(body)
    .map(pieceOf)
    .filter((piece) => piece !== "")
    .join("");
}

function documents(body: string): unknown[] {
  const whole = parsed(body);
  if (whole !== undefined) return [whole];
  return body
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => parsed(line.slice("data:".length)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const at = (value: unknown, name: string): unknown =>
  value !== null && typeof value === "object" ? (value as Record<string, unknown>)[name] : undefined;
const textAt = (value: unknown, name: string): string => {
  const found = at(value, name);
  return typeof found === "string" ? found : "";
};

/** As chat completions tell it, and as messages do. */
function pieceOf(document: unknown): string {
  const choices = at(document, "choices");
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const said = at(choice, "delta") ?? at(choice, "message");
  const content = at(document, "content");
  const blocks = Array.isArray(content) ? content : [];
  return [
    textAt(said, "reasoning_content") || textAt(said, "reasoning"),
    textAt(at(document, "delta"), "thinking"),
    textAt(at(document, "content_block"), "thinking"),
    ...blocks.map((block) => textAt(block, "thinking")),
  ].join("");
}
