// Connects a model: a tool that takes a conversation's messages, and a process like Chat that calls it.
import type { Schemas } from "../../api/client";
import type { JsonSchema } from "../../ui/jsonSchema";
import type { Service, ServiceTemplate } from "./kinds";

/** Something a model can be reached by: a service that is there, or a template to make one from. */
export interface Provider {
  id: string;
  from: "service" | "template";
  name: string;
  what: string;
  protocol: string;
  requiresSecret: boolean;
  address: string;
  models: string[];
  maxTokens?: number;
}

const property = (schema: unknown, name: string): JsonSchema | undefined =>
  (schema as JsonSchema).properties?.[name];

export function providerOf(entry: Service | ServiceTemplate): Provider {
  const model = property(entry.connectionSchema, "model");
  const known = model?.default === undefined ? [] : [String(model.default)];
  const longest = property(entry.connectionSchema, "maxTokens")?.default;
  return {
    id: entry.id,
    from: "archived" in entry ? "template" : "service",
    name: entry.name,
    what: entry.description ?? "",
    protocol: entry.protocol,
    requiresSecret: entry.requiresSecret,
    address: String(property(entry.connectionSchema, "endpoint")?.default ?? ""),
    models: [...known, ...(model?.examples ?? []).map(String)],
    maxTokens: typeof longest === "number" ? longest : undefined,
  };
}

/** Everything a model can be connected by: services first, then what new ones are made from. */
export function providersOf(services: Service[], templates: ServiceTemplate[]): Provider[] {
  const there = services.filter(
    ({ type, enabled, builtin }) => type === "llm_provider" && enabled && !builtin,
  );
  const blueprints = templates.filter(({ type, archived }) => type === "llm_provider" && !archived);
  return [...there, ...blueprints].map(providerOf);
}

type ToolBody = Schemas["ToolBody"];
/** A tool that answers the last of the messages it is given. */
export function chatTool(
  fields: Pick<ToolBody, "name" | "serviceId" | "connectionParams" | "secretId">,
): ToolBody {
  return {
    ...fields,
    description: "Answers the last of the messages it is given.",
    operation: { type: "llm_call", promptTemplate: "", messagesFrom: "messages" },
    inputSchema: {
      type: "object",
      properties: { messages: { type: "array", items: { type: "object" }, title: "Messages" } },
      required: ["messages"],
      additionalProperties: false,
    },
    outputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  };
}

type Process = Schemas["ProcessView"];
/** A process like the given one, with another tool where that one answers. */
export function processLike(
  chat: Process,
  answers: (toolId: string) => boolean,
  name: string,
  toolId: string,
): Schemas["ProcessBody"] {
  const at = chat.steps.findLastIndex((step) => step.toolId && answers(step.toolId));
  const steps = chat.steps.map((step, index) => (index === at ? { ...step, toolId } : step));
  return {
    name,
    description: chat.description,
    initialContext: chat.initialContext,
    steps,
    outputTemplate: chat.outputTemplate,
    maxRecursionDepth: chat.maxRecursionDepth,
  };
}

/** The process to start from: Chat, or else any that answers with a model's messages. */
export function chatAmong(processes: Process[], answers: (toolId: string) => boolean): Process | undefined {
  const fit = processes.filter(
    ({ steps, archived }) => !archived && steps.some(({ toolId }) => toolId && answers(toolId)),
  );
  return fit.find(({ name }) => name === "Chat") ?? fit[0];
}

/** The name with a number where it is taken. */
export function freeName(name: string, taken: string[]): string {
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number++) if (!taken.includes(`${name} ${number}`)) return `${name} ${number}`;
}
