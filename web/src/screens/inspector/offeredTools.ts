// The tools that a process offers its model: they are sent with every call, beside the window, and count as much.
import { call } from "../../api/client";

export interface OfferedTool {
  id: string;
  /** As the model knows it. */
  name: string;
  label: string;
  /** Guessed: four characters a token. */
  tokens: number;
  definition: { name: string; description?: string; parameters: unknown };
}
export interface ToolOffer {
  processId: string;
  process: string;
  tools: OfferedTool[];
  tokens: number;
}
const NAME_MAX = 64;
const CHARACTERS_PER_TOKEN = 4;

/** Spelled as providers take it. */
export const offerName = (name: string): string =>
  [...name]
    .slice(0, NAME_MAX)
    .map((letter) => (/[a-z0-9_-]/i.test(letter) ? letter.toLowerCase() : "_"))
    .join("") || "tool";

interface ToolDescription {
  id: string;
  name: string;
  description?: string | null;
  inputSchema: unknown;
}
export function offeredTool({ id, name, description, inputSchema }: ToolDescription): OfferedTool {
  const definition = {
    name: offerName(name),
    ...(description ? { description } : {}),
    parameters: inputSchema,
  };
  const tokens = Math.ceil(JSON.stringify(definition).length / CHARACTERS_PER_TOKEN);
  return { id, name: definition.name, label: name, tokens, definition };
}

async function describedAs(
  id: string,
  version: number | null | undefined,
  signal: AbortSignal,
): Promise<ToolDescription> {
  const tool = await call("get", "/api/v1/tools/{id}", { params: { id }, signal });
  if (!version) return tool;
  const past = await call("get", "/api/v1/records/{id}", { params: { id }, query: { version }, signal });
  const { description, inputSchema } = past.data as Partial<ToolDescription>;
  return { id, name: tool.name, description, inputSchema };
}

/** Tools offered by the last chosen process of this conversation; undefined if it offers none. */
export async function offeredIn(conversation: string, signal: AbortSignal): Promise<ToolOffer | undefined> {
  const { processId } = await call("get", "/api/v1/conversations/{id}", {
    params: { id: conversation },
    signal,
  });
  if (!processId) return;
  const process = await call("get", "/api/v1/processes/{id}", { params: { id: processId }, signal });
  // A process names one version of a tool, or none.
  const named = new Map(
    process.steps.flatMap(({ tools }) =>
      (tools ?? []).map(({ toolId, toolVersion }) => [toolId, toolVersion]),
    ),
  );
  if (named.size === 0) return;
  const tools = await Promise.all([...named].map(([id, version]) => describedAs(id, version, signal)));
  const offered = tools.map(offeredTool);
  const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
  return { processId, process: process.name, tools: offered, tokens };
}
