// Reads the request of an answer: the last recorded model call that led to it.
import { send } from "../../api/client";
import { fetchGenerations } from "../../state/cost";

export async function requestOf(node: string): Promise<string> {
  const generation = (await fetchGenerations([node])).get(node);
  const asked = generation?.calls.filter(({ operation }) => operation === "llm_call").at(-1);
  if (!asked) return "No model wrote this message.";
  const payload = await (await send(`/api/v1/items/${asked.id}/payload`, { method: "GET" })).text();
  return JSON.stringify(JSON.parse(payload), null, 2);
}
