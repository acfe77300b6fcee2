// A model that answers at once, each time with other words, and keeps every request it was sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export const RECORDING = "recording";
export interface Request {
  /** Received system messages. */
  system: string[];
  /** The other received messages; merged turns of one speaker are split again. */
  texts: string[];
  answer: string;
}

export class RecordingModel {
  readonly requests: Request[] = [];
  /** Refuses every request while it is set. */
  fails = false;
  #waiting: (() => void)[] = [];
  private constructor(
    private readonly server: Server,
    readonly host: string,
    readonly port: number,
  ) {}

  static start(): Promise<RecordingModel> {
    return new Promise((resolve) => {
      const server = createServer();
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        if (address === null || typeof address === "string") throw new Error("a port was expected");
        const model = new RecordingModel(server, "127.0.0.1", address.port);
        server.on("request", (request, response) => model.#answer(request, response));
        resolve(model);
      });
    });
  }
  get endpoint(): string {
    return `http://${this.host}:${this.port}/v1`;
  }
  /** The request of that number, once it came. */
  async request(number: number): Promise<Request> {
    for (;;) {
      const found = this.requests[number];
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
      const answer = `Answer ${this.requests.length + 1}`;
      const texts = messages
        .filter(({ role }) => role !== "system")
        .flatMap(({ content }) => content.split("\n\n"));
      const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
      this.requests.push({ system, texts, answer });
      this.#waiting.splice(0).forEach((resolve) => resolve());
      if (this.fails) {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: { message: "no such luck", type: "invalid_request_error" } }));
        return;
      }
      const chunk = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({
          id: answer,
          object: "chat.completion.chunk",
          created: 0,
          model: RECORDING,
          choices: [{ index: 0, delta, finish_reason: finish }],
        })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        chunk({ role: "assistant", content: answer }, null) + chunk({}, "stop") + "data: [DONE]\n\n",
      );
    });
  }
}
