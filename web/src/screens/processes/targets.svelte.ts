// What steps can call: the tools and processes that are there, with the shapes they take and give.
import { all, call, type Schemas } from "../../api/client";
import { onResync, onTold } from "../../api/events";
import type { JsonSchema } from "../../ui/jsonSchema";
import { contextSchema, type Process, type Step, type Tool } from "./definition";

const MOST = 1000;

class Targets {
  tools = $state.raw<Tool[]>([]);
  processes = $state.raw<Process[]>([]);
  problem = $state.raw<unknown>();
  isLoaded = $state(false);
  #started = false;

  /** Loads once and follows what changes. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    onTold(({ event }) => {
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
  inputSchema(step: Step): JsonSchema | undefined {
    if (step.toolId) return this.tool(step.toolId)?.inputSchema as JsonSchema | undefined;
    const process = this.process(step.processId);
    return process && contextSchema(process.initialContext);
  }
  outputSchema(step: Step): JsonSchema | undefined {
    if (step.ask) return step.ask.schema as JsonSchema | undefined;
    return this.tool(step.toolId)?.outputSchema as JsonSchema | undefined;
  }
  /** Whether a step asks a model, which may then call tools. */
  asksModel(step: Step): boolean {
    const operation = this.tool(step.toolId)?.operation as { type?: string } | undefined;
    return operation?.type === "llm_call";
  }
  nameOf(step: Step): string {
    if (step.ask) return "asks a person";
    if (step.toolId) return this.tool(step.toolId)?.name ?? "a tool that is not there";
    if (step.processId) return this.process(step.processId)?.name ?? "a process that is not there";
    return "nothing chosen yet";
  }
}
export const targets = new Targets();
export type Offer = Schemas["OfferFields"];
