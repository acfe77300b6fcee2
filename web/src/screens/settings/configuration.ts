// Collects a user's configuration in one file: definitions and settings, never the value of a secret.
import { all, call, type Schemas } from "../../api/client";

type OwnedEntry = { ownerId: string };
interface Lists {
  services: Schemas["ServiceView"][];
  tools: Schemas["ToolView"][];
  processes: Schemas["ProcessView"][];
  serviceTemplates: Schemas["ServiceTemplateView"][];
  toolTemplates: Schemas["ToolTemplateView"][];
  secrets: Schemas["SecretView"][];
}
export interface Configuration {
  format: "skein-configuration";
  version: 1;
  exportedAt: string;
  services: unknown[];
  tools: unknown[];
  processes: unknown[];
  serviceTemplates: unknown[];
  toolTemplates: unknown[];
  /** Their names and kinds, so that one knows which values are to be given again. */
  secrets: { id: string; name: string; type: string }[];
  settings: { name: string; value: unknown }[];
}

/** Fields of the current state are not part of the configuration. */
const PASSING = ["status", "lastHealthCheck", "errorMessage", "operationId", "warning"];
const lasting = (entry: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => !PASSING.includes(name)));

export function configurationOf(
  lists: Lists,
  settings: readonly { name: string; value?: unknown }[],
  owner: string,
  now: Date,
): Configuration {
  const own = (entries: readonly OwnedEntry[]) =>
    entries.filter(({ ownerId }) => ownerId === owner).map(lasting);
  return {
    format: "skein-configuration",
    version: 1,
    exportedAt: now.toISOString(),
    services: own(lists.services),
    tools: own(lists.tools),
    processes: own(lists.processes),
    serviceTemplates: own(lists.serviceTemplates),
    toolTemplates: own(lists.toolTemplates),
    secrets: lists.secrets.map(({ id, name, type }) => ({ id, name, type })),
    settings: settings.map(({ name, value }) => ({ name, value })),
  };
}

export async function readConfiguration(owner: string): Promise<Configuration> {
  const every = { owned: true };
  const [services, tools, processes, serviceTemplates, toolTemplates, secrets, settings] = await Promise.all([
    all((cursor) => call("get", "/api/v1/services", { query: { ...every, cursor } })),
    all((cursor) => call("get", "/api/v1/tools", { query: { ...every, cursor } })),
    all((cursor) => call("get", "/api/v1/processes", { query: { cursor } })),
    all((cursor) => call("get", "/api/v1/service-templates", { query: { cursor } })),
    all((cursor) => call("get", "/api/v1/tool-templates", { query: { cursor } })),
    all((cursor) => call("get", "/api/v1/secrets", { query: { cursor } })),
    call("get", "/api/v1/settings"),
  ]);
  const lists = { services, tools, processes, serviceTemplates, toolTemplates, secrets };
  return configurationOf(lists, settings.data, owner, new Date());
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];
/** A size as people say it. */
export function shownBytes(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; size >= 1000 && unit < UNITS.length - 1; unit++) size /= 1000;
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
