// Builds a person's data over the API for stories and tests.
import { expect } from "@playwright/test";
import type { Api, Node, Page, Schemas } from "./api";

type Process = Schemas["ProcessView"];
type Conversation = Schemas["ConversationView"];
interface Grown {
  node: Node;
}
export interface Answering {
  answers: { node: Node; executionId: string }[];
}
const CHAT = "Chat";
/** Between two looks at the index, which is behind for some tens of milliseconds. */
const INTERVALS_MS = [20, 50, 100];

export class Person {
  #processes = new Map<string, string>();
  #tools = new Map<string, string>();
  constructor(readonly api: Api) {}

  async process(name: string): Promise<string> {
    return this.#named(this.#processes, "/processes?limit=100", name);
  }
  async tool(name: string): Promise<string> {
    return this.#named(this.#tools, "/tools?limit=100", name);
  }
  async #named(known: Map<string, string>, path: string, name: string): Promise<string> {
    if (!known.has(name)) {
      const { data } = await this.api.get<Page<{ id: string; name: string }>>(path);
      for (const entry of data) known.set(entry.name, entry.id);
    }
    const id = known.get(name);
    if (!id) throw new Error(`there is no ${name}`);
    return id;
  }

  begin(title: string, more: Partial<Schemas["ConversationBody"]> = {}): Promise<Conversation> {
    return this.api.post("/conversations", { title, ...more });
  }

  /** The node at which its owner stands. */
  async end(conversation: string): Promise<string | undefined> {
    const at = await this.api.get<Conversation>(`/conversations/${conversation}`);
    return at.nodes > 0 ? (at.cursorNodeId ?? undefined) : undefined;
  }

  /** Says something where the path ends, or after a node. */
  async say(conversation: string, text: string, after?: string): Promise<Node> {
    const grown = await this.api.post<Grown>(`/conversations/${conversation}/turns`, {
      text,
      parentAlternativeId: after ?? (await this.end(conversation)),
    });
    return grown.node;
  }

  /** Has the path's end answered, and waits for the answers. */
  async answered(conversation: string, names: string[] = [CHAT], samples = 1): Promise<Node[]> {
    const processIds = await Promise.all(names.map((name) => this.process(name)));
    const { answers } = await this.api.post<Answering>(`/conversations/${conversation}/turns`, {
      speaker: "agent",
      parentAlternativeId: await this.end(conversation),
      processIds,
      samples,
    });
    return Promise.all(
      answers.map(async ({ node, executionId }) => {
        await this.api.ended(executionId);
        return this.api.get<Node>(`/nodes/${node.id}`);
      }),
    );
  }

  async ask(conversation: string, text: string): Promise<{ question: Node; answer: Node }> {
    const question = await this.say(conversation, text);
    const [answer] = await this.answered(conversation);
    if (!answer) throw new Error("no answer");
    return { question, answer };
  }

  async edit(node: Node, text: string, makeActive = true): Promise<Node> {
    const grown = await this.api.post<Grown>(
      `/conversations/${node.conversationId}/turns/${node.turnId}/alternatives`,
      { text, editedFrom: node.id, makeActive },
    );
    return grown.node;
  }

  /** Waits until all of it can be found: whoever looks is answered with what is there, after a while. */
  async findable(): Promise<void> {
    const behind = async () => (await this.api.get<{ behind: number }>("/index")).behind;
    await expect.poll(behind, { intervals: INTERVALS_MS }).toBe(0);
  }

  activate(node: Node): Promise<unknown> {
    const path = `/conversations/${node.conversationId}/turns/${node.turnId}/alternatives/${node.id}/activate`;
    return this.api.put(path);
  }

  mark(node: Node, marks: Schemas["MarksBody"]): Promise<unknown> {
    return this.api.put(`/nodes/${node.id}/marks`, marks);
  }

  define(body: Schemas["ProcessBody"]): Promise<Process> {
    return this.api.post("/processes", body);
  }

  /** A process of one call, which a person approves. */
  async saying(interactionMode: "manual" | "auto" = "manual"): Promise<Process> {
    return this.define({
      name: "Say it",
      initialContext: ["word"],
      steps: [
        {
          id: "say",
          toolId: await this.tool("Echo"),
          inputs: { value: "{word}" },
          output: { variable: "said" },
          execution: { interactionMode },
        },
      ],
      outputTemplate: "{{said.value}}",
    } as Schemas["ProcessBody"]);
  }

  /** A service of addresses; it calls none before a tool does. */
  service(name: string, protocol: "http" | "https" = "https"): Promise<Schemas["ServiceView"]> {
    return this.api.post("/services", {
      name,
      type: "rest_api",
      protocol,
      requiresSecret: false,
      connectionSchema: {
        type: "object",
        properties: { endpoint: { type: "string" } },
        required: ["endpoint"],
      },
    });
  }

  /** A tool on such a service that nobody calls. */
  level(serviceId: string, more: Record<string, unknown> = {}): Promise<Schemas["ToolView"]> {
    return this.api.post("/tools", {
      name: "Level",
      serviceId,
      connectionParams: { endpoint: "https://gauge.example" },
      operation: { type: "rest_call", method: "GET", path: "/level" },
      inputSchema: { type: "object", properties: {} },
      outputSchema: {},
      ...more,
    });
  }

  /** A process that answers by a model at an address of this machine. */
  async modelProcess(
    name: string,
    at: { endpoint: string; host: string; port: number },
    model: string,
    tools?: { toolId: string; approval: string }[],
  ) {
    await this.allow(at);
    const service = await this.api.post<{ id: string }>("/services", {
      name: `${name} service`,
      type: "llm_provider",
      protocol: "http",
      requiresSecret: false,
      connectionSchema: {
        type: "object",
        properties: { endpoint: { type: "string" }, model: { type: "string" }, dialect: { type: "string" } },
        required: ["endpoint", "model"],
      },
    });
    const tool = await this.api.post<{ id: string }>("/tools", {
      name: `${name} chat`,
      serviceId: service.id,
      connectionParams: { endpoint: at.endpoint, model, dialect: "openai" },
      operation: { type: "llm_call", promptTemplate: "", messagesFrom: "messages" },
      inputSchema: {
        type: "object",
        properties: { messages: { type: "array", items: { type: "object" } } },
        required: ["messages"],
      },
      outputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    });
    const step = (id: string, toolId: string, inputs: object, variable: string) => ({
      id,
      toolId,
      inputs: inputs as Record<string, never>,
      output: { variable },
    });
    return this.define({
      name,
      initialContext: {
        type: "object",
        properties: { nodeId: { type: "string" } },
        required: ["nodeId"],
      },
      steps: [
        step("context", await this.tool("Conversation context"), { nodeId: "{nodeId}" }, "window"),
        { ...step("answer", tool.id, { messages: "{step.window.messages}" }, "answer"), tools },
      ],
      outputTemplate: "{{answer.text}}",
    } as Schemas["ProcessBody"]);
  }

  async allow({ host, port }: { host: string; port: number }): Promise<void> {
    await this.api.post("/allowed-endpoints", { host, port });
  }

  /** Takes back what was allowed, so that a test can be the first to allow it. */
  async refuse(at: { host: string; port: number }): Promise<void> {
    const { data } =
      await this.api.get<Page<{ id: string; host: string; port: number }>>("/allowed-endpoints");
    for (const { id, host, port } of data) {
      if (host === at.host && port === at.port) await this.api.delete(`/allowed-endpoints/${id}`);
    }
  }

  async run(process: string, initialContext: Record<string, unknown>): Promise<string> {
    const begun = await this.api.post<{ executionId: string }>(`/processes/${process}/execute`, {
      initialContext,
    });
    return begun.executionId;
  }
}
