// Server-sent events read by fetch: every name is heard, the status of a refusal is seen, and where to go on is ours.
import { send } from "./client";

export interface Message {
  id?: string;
  event: string;
  data: string;
}

/** Takes text as it comes and gives whole messages. */
export class MessageParser {
  #rest = "";
  #message: Message = { event: "message", data: "" };
  #hasData = false;

  push(text: string): Message[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): Message[] {
    if (line === "") return this.#finished();
    if (line.startsWith(":")) return [];
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#message.event = value;
    if (name === "id") this.#message.id = value;
    if (name === "data") {
      this.#message.data += this.#hasData ? `\n${value}` : value;
      this.#hasData = true;
    }
    return [];
  }

  #finished(): Message[] {
    const whole = this.#hasData ? [this.#message] : [];
    this.#message = { event: "message", data: "" };
    this.#hasData = false;
    return whole;
  }
}

/** Every message of one connection. Ends when the server ends it; throws when it breaks. */
export async function* messages(
  url: string,
  lastId: string | undefined,
  signal: AbortSignal,
  opened?: () => void,
): AsyncGenerator<Message> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
  const response = await send(url, { method: "GET", headers, signal });
  opened?.();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  const parser = new MessageParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
