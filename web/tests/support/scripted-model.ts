// A model that says what a test tells it, piece by piece: the only way to be in the middle of a stream for certain.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export const TOLD = "told";
interface Message {
  role: string;
  content: string;
}
interface Asked {
  response: ServerResponse;
  messages: Message[];
}

export class ToldModel {
  #asked: Asked[] = [];
  #waiting: ((asked: Asked) => void)[] = [];

  private constructor(
    private readonly server: Server,
    readonly host: string,
    readonly port: number,
  ) {}

  static start(): Promise<ToldModel> {
    return new Promise((resolve) => {
      const server = createServer();
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        if (address === null || typeof address === "string") throw new Error("a port was expected");
        const model = new ToldModel(server, "127.0.0.1", address.port);
        server.on("request", (request, response) => model.#answer(request, response));
        resolve(model);
      });
    });
  }

  get endpoint(): string {
    return `http://${this.host}:${this.port}/v1`;
  }

  /** The next question that nobody answers yet. */
  async asked(): Promise<Saying> {
    const { response, messages } =
      this.#asked.shift() ?? (await new Promise<Asked>((resolve) => this.#waiting.push(resolve)));
    return new Saying(response, messages);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: TOLD, object: "model" }] }));
      return;
    }
    request.on("end", () => {
      const { messages } = JSON.parse(body) as Pick<Asked, "messages">;
      const waiting = this.#waiting.shift();
      if (waiting) waiting({ response, messages });
      else this.#asked.push({ response, messages });
    });
  }
}

/** One answer in the making. */
export class Saying {
  constructor(
    private readonly response: ServerResponse,
    /** Messages of the request. */
    readonly messages: readonly Message[],
  ) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    this.#chunk({ role: "assistant", content: "" });
  }
  say(text: string): void {
    this.#chunk({ content: text });
  }
  /** Streams reasoning before the answer. */
  think(text: string): void {
    this.#chunk({ reasoning_content: text });
  }
  /** Asks for a call instead of answering. */
  wish(name: string, inputs: Record<string, unknown>): void {
    const id = `call_${this.messages.length}`;
    const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(inputs) } };
    this.#chunk({ tool_calls: [call] });
    this.end("tool_calls");
  }
  end(finish = "stop"): void {
    this.#chunk({}, finish);
    this.response.end("data: [DONE]\n\n");
  }
  #chunk(delta: Record<string, unknown>, finish: string | null = null): void {
    const chunk = {
      id: "told",
      object: "chat.completion.chunk",
      created: 0,
      model: TOLD,
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
    this.response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}
