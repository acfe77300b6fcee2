// Targets of steps: the available tools and processes with their input and output schemas.
import { all, call, type Schemas } from "../../api/client";
import { asProblem } from "../../api/problem";
import { onResync, onServerEvent } from "../../api/events";
import type { JsonSchema } from "../../ui/jsonSchema";
import { contextSchema, type Process, type Step, type Tool } from "./definition";

const MOST = 1000;

class Targets {
  tools = $state.raw<Tool[]>([]);
  processes = $state.raw<Process[]>([]);
  problem = $state.raw<unknown>();
  isLoaded = $state(false);
  #started = false;
  /** Definitions of tool versions, once a step names them. */
  #past = $state.raw<Record<string, Tool>>({});
  #asked = new Set<string>();

  /** Loads once and follows what changes. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    onServerEvent(({ event }) => {
      if (/^(tool|process)\.(created|changed|archived|deleted)$/.test(event)) void this.refresh();
    });
    onResync(() => void this.refresh());
    void this.refresh();
  }

  async refresh(): Promise<void> {
    try {
      const page = (cursor: string | undefined) => ({ query: { cursor, limit: 200 } });
      [this.tools, this.processes] = await Promise.all([
        all((cursor) => call("get", "/api/v1/tools", page(cursor)), MOST),
        all((cursor) => call("get", "/api/v1/processes", page(cursor)), MOST),
      ]);
      this.problem = undefined;
      this.isLoaded = true;
    } catch (error) {
      this.problem = error;
    }
  }

  tool(id: string | null | undefined): Tool | undefined {
    return this.tools.find((tool) => tool.id === id);
  }
  process(id: string | null | undefined): Process | undefined {
    return this.processes.find((process) => process.id === id);
  }
  /** A tool as it is called: what it is, or what it was in the version that is named. */
  called({ toolId, toolVersion }: Pick<Step, "toolId" | "toolVersion">): Tool | undefined {
    const tool = this.tool(toolId);
    if (!tool || !toolVersion || toolVersion === tool.version) return tool;
    void this.#readPast(tool.id, toolVersion);
    const past = this.#past[`${tool.id} ${toolVersion}`];
    const { name, enabled, secretId } = tool;
    return past && { ...tool, description: undefined, ...past, name, enabled, secretId };
  }
  async #readPast(id: string, version: number): Promise<void> {
    const key = `${id} ${version}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    try {
      const { data } = await call("get", "/api/v1/records/{id}", { params: { id }, query: { version } });
      this.#past = { ...this.#past, [key]: data as unknown as Tool };
    } catch (error) {
      // A missing version is reported by the validation of the process.
      if (asProblem(error).status !== 404) this.#asked.delete(key);
    }
  }
  inputSchema(step: Pick<Step, "toolId" | "toolVersion" | "processId">): JsonSchema | undefined {
    if (step.toolId) return this.called(step)?.inputSchema as JsonSchema | undefined;
    const process = this.process(step.processId);
    return process && contextSchema(process.initialContext);
  }
  outputSchema(step: Step): JsonSchema | undefined {
    if (step.ask) return step.ask.schema as JsonSchema | undefined;
    return this.called(step)?.outputSchema as JsonSchema | undefined;
  }
  /** True if a step calls a model, which may then call tools. */
  asksModel(step: Step): boolean {
    const operation = this.tool(step.toolId)?.operation as { type?: string } | undefined;
    return operation?.type === "llm_call";
  }
  nameOf(step: Step): string {
    if (step.ask) return "asks a person";
    if (step.toolId) {
      const version = step.toolVersion ? `, version ${step.toolVersion}` : "";
      return (this.tool(step.toolId)?.name ?? "missing tool") + version;
    }
    if (step.processId) return this.process(step.processId)?.name ?? "missing process";
    return "no target chosen";
  }
}
export const targets = new Targets();
export type Offer = Schemas["OfferFields"];
