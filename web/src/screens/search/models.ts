// What the tools that ask models are called, with the model each of them asks.
import { all, call } from "../../api/client";

export async function modelNames(signal: AbortSignal): Promise<Map<string, string>> {
  const tools = await all((cursor) =>
    call("get", "/api/v1/tools", { query: { type: "llm_call", cursor }, signal }),
  );
  return new Map(
    tools.map(({ id, name, connectionParams }) => [id, `${name} ${String(connectionParams.model ?? "")}`]),
  );
}
