// A tool as a form holds it, and as the server takes it.
import { call, type Schemas } from "../../api/client";
import type { Unread } from "../../ui/json";
import type { JsonSchema } from "../../ui/jsonSchema";
import type { Tool } from "./kinds";
import { inputsOf, parsed, schemaOf, variablesOf, type Operation } from "./operation";

/** Position of an API key; "usual" leaves it to the server. */
export interface SecretUse {
  in: "usual" | "header" | "query";
  name: string;
  prefix: string;
}
export interface ToolFields {
  name: string;
  description: string;
  serviceId: string;
  templateId: string;
  params: Record<string, unknown>;
  secretId: string;
  secretUse: SecretUse;
  operation: Operation;
  inputSchema: JsonSchema;
  output: string;
  /** Texts of fields that hold invalid JSON. */
  unread: Unread;
}

export const blankTool = (serviceId: string, templateId: string): ToolFields => ({
  name: "",
  description: "",
  serviceId,
  templateId,
  params: {},
  secretId: "",
  secretUse: { in: "usual", name: "", prefix: "" },
  operation: {},
  inputSchema: { type: "object", properties: {}, required: [] },
  output: "{}",
  unread: {},
});

export function fieldsOf(tool: Tool): ToolFields {
  const use = tool.secretUse as Partial<SecretUse> | null | undefined;
  return {
    name: tool.name,
    description: tool.description ?? "",
    serviceId: tool.serviceId,
    templateId: "",
    params: tool.connectionParams,
    secretId: tool.secretId ?? "",
    secretUse: { in: use?.in ?? "usual", name: use?.name ?? "", prefix: use?.prefix ?? "" },
    operation: tool.operation as Operation,
    inputSchema: tool.inputSchema as JsonSchema,
    output: JSON.stringify(tool.outputSchema, null, 2),
    unread: {},
  };
}

function shared(fields: ToolFields) {
  const use = fields.secretUse;
  const secretUse =
    fields.secretId && use.in !== "usual"
      ? {
          in: use.in,
          name: use.name.trim(),
          ...(use.in === "header" && use.prefix ? { prefix: use.prefix } : {}),
        }
      : undefined;
  return {
    name: fields.name.trim(),
    connectionParams: fields.params,
    secretUse,
  };
}
function definition(fields: ToolFields) {
  const rows = inputsOf(fields.inputSchema, variablesOf(fields.operation));
  return {
    operation: fields.operation,
    inputSchema: rows.length > 0 ? schemaOf(rows, fields.inputSchema) : fields.inputSchema,
    outputSchema: parsed(fields.output).value ?? {},
  };
}

export const bodyFrom = (fields: ToolFields): Schemas["ToolBody"] => ({
  ...shared(fields),
  description: fields.description.trim() || undefined,
  serviceId: fields.serviceId,
  secretId: fields.secretId || undefined,
  ...(fields.templateId ? { toolTemplateId: fields.templateId } : definition(fields)),
});

/** An empty field is sent as null, which removes it. */
export const changesFrom = (fields: ToolFields, basedOnHash?: string): Schemas["ToolChangeBody"] => ({
  ...shared(fields),
  ...definition(fields),
  secretUse: shared(fields).secretUse ?? null,
  description: fields.description.trim() || null,
  secretId: fields.secretId || null,
  basedOnHash,
});

export async function saveTool(
  id: string | undefined,
  body: Schemas["ToolBody"] | Schemas["ToolChangeBody"],
): Promise<Tool> {
  if (!id) return call("post", "/api/v1/tools", { body: body as Schemas["ToolBody"] });
  return call("put", "/api/v1/tools/{id}", { params: { id }, body: body as Schemas["ToolChangeBody"] });
}
