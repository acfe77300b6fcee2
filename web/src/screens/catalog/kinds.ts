// The five kinds of things in the catalog, and the words for them.
import type { Schemas } from "../../api/client";
import type { IconName } from "../../ui/icons";

export type Service = Schemas["ServiceView"];
export type Tool = Schemas["ToolView"];
export type Secret = Schemas["SecretView"];
export type ServiceTemplate = Schemas["ServiceTemplateView"];
export type ToolTemplate = Schemas["ToolTemplateView"];
export type Entry = Service | Tool | Secret | ServiceTemplate | ToolTemplate;
export interface Entries {
  services: Service;
  tools: Tool;
  secrets: Secret;
  "service-templates": ServiceTemplate;
  "tool-templates": ToolTemplate;
}
export type Kind = keyof Entries;
/** Entries that can be shared; secrets never are. */
export type Shareable = {
  [K in Exclude<Kind, "secrets">]: { kind: K; entry: Entries[K] };
}[Exclude<Kind, "secrets">];

export interface KindWords {
  id: Kind;
  label: string;
  one: string;
  icon: IconName;
  /** Prefix of the events about this kind. */
  event: string;
  what: string;
}
export const kinds: KindWords[] = [
  {
    id: "services",
    label: "Services",
    one: "service",
    icon: "service",
    event: "service.",
    what: "A place where work happens: an API, a model provider, a graph database or an MCP server.",
  },
  {
    id: "tools",
    label: "Tools",
    one: "tool",
    icon: "tool",
    event: "tool.",
    what: "One operation on one service. Processes call tools.",
  },
  {
    id: "secrets",
    label: "Secrets",
    one: "secret",
    icon: "key",
    event: "secret.",
    what: "Credentials for tools. Skein uses a value but never shows it.",
  },
  {
    id: "service-templates",
    label: "Service templates",
    one: "service template",
    icon: "copy",
    event: "service_template.",
    what: "Blueprints of services. You can archive a template but not change it.",
  },
  {
    id: "tool-templates",
    label: "Tool templates",
    one: "tool template",
    icon: "copy",
    event: "tool_template.",
    what: "Blueprints of tools. You can archive a template but not change it.",
  },
];
export const kindOf = (id: string): KindWords | undefined => kinds.find((kind) => kind.id === id);

/** Owner of the built-in entries. */
export const SYSTEM = "user_00000000000000000000000000";

export const SERVICE_TYPES: Record<string, string> = {
  rest_api: "REST API",
  llm_provider: "Models",
  mcp_server: "MCP server",
  neo4j_graph: "Graph database",
};
export const PROTOCOLS: Record<string, string[]> = {
  rest_api: ["https", "http"],
  llm_provider: ["https", "http"],
  mcp_server: ["stdio", "http", "https", "sse"],
  neo4j_graph: ["bolt", "bolt+s"],
};
export const SECRET_TYPES: Record<string, string> = {
  api_key: "API key",
  password: "User name and password",
  oauth_token: "OAuth token",
  certificate: "Client certificate",
};
/** A service's type decides what its tools do. */
export const OPERATIONS: Record<string, string> = {
  rest_api: "rest_call",
  llm_provider: "llm_call",
  mcp_server: "mcp_tool",
  neo4j_graph: "graph_query",
};
export const OPERATION_NAMES: Record<string, string> = {
  rest_call: "HTTP request",
  llm_call: "Model",
  mcp_tool: "MCP tool",
  graph_query: "Graph query",
};

export interface Health {
  word: string;
  kind: "success" | "warning" | "danger" | "plain";
}
/** Health in one word: an entry that was never checked is not down. */
export function healthOf(entry: {
  enabled: boolean;
  status: string;
  lastHealthCheck?: string | null;
}): Health {
  if (!entry.enabled) return { word: "off", kind: "plain" };
  if (!entry.lastHealthCheck) return { word: "not checked", kind: "plain" };
  if (entry.status === "healthy") return { word: "healthy", kind: "success" };
  if (entry.status === "degraded") return { word: "degraded", kind: "warning" };
  return { word: "down", kind: "danger" };
}

/** One line about an entry, below its name. */
export function briefOf(entry: Entry, serviceName: (id: string) => string | undefined): string {
  if ("serviceId" in entry) return serviceName(entry.serviceId) ?? "a service you cannot see";
  if ("valueVersion" in entry) return SECRET_TYPES[entry.type] ?? entry.type;
  if ("operation" in entry) return OPERATION_NAMES[String(entry.operation.type)] ?? "";
  return `${SERVICE_TYPES[entry.type] ?? entry.type} · ${entry.protocol}`;
}
