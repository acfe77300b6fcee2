// The API as one person: for what a test needs to be there before it begins, and to look at what came of it.
import { randomUUID } from "node:crypto";
import type { components } from "../../src/api/schema";

export type Schemas = components["schemas"];
export type Node = Schemas["NodeView"];
export interface Page<T> {
  data: T[];
}
type Method = "GET" | "POST" | "PUT" | "DELETE";

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly told: string,
  ) {
    super(`${status}: ${told}`);
  }
}

export class Api {
  private constructor(
    readonly address: string,
    readonly cookie: string,
  ) {}

  /** Uses up a one-time link. */
  static async signIn(address: string, link: string): Promise<Api> {
    const answer = await fetch(address + new URL(link).pathname, { redirect: "manual" });
    const cookie = answer.headers.get("set-cookie")?.split(";")[0];
    if (!cookie) throw new Error(`the link does not sign in: ${answer.status}`);
    return new Api(address, cookie);
  }

  get<T>(path: string): Promise<T> {
    return this.ask<T>("GET", path);
  }
  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.ask<T>("POST", path, body);
  }
  put<T>(path: string, body: unknown = {}): Promise<T> {
    return this.ask<T>("PUT", path, body);
  }
  delete<T>(path: string): Promise<T> {
    return this.ask<T>("DELETE", path);
  }

  async ask<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { cookie: this.cookie, origin: this.address };
    if (method !== "GET") headers["idempotency-key"] = randomUUID();
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await fetch(`${this.address}/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Refused(answer.status, text);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Hears events until one is the wanted one. */
  async heard(wanted: (event: string, data: Record<string, unknown>) => boolean, cause: () => Promise<void>) {
    const answer = await fetch(`${this.address}/api/v1/events`, {
      headers: { cookie: this.cookie },
    });
    await cause();
    let rest = "";
    for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
      rest += Buffer.from(bytes).toString("utf8");
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const message = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const event = /^event: ?(.*)$/m.exec(message)?.[1];
        const data = /^data: ?(.*)$/m.exec(message)?.[1];
        // Leaving the loop ends the connection.
        if (event && data && wanted(event, JSON.parse(data) as Record<string, unknown>)) return;
      }
    }
    throw new Error("the server ended the events first");
  }

  /** Waits until a run has ended or asks somebody: its stream ends, or a review is there. */
  async ended(execution: string): Promise<Schemas["ExecutionView"]> {
    const answer = await fetch(`${this.address}/api/v1/executions/${execution}/stream`, {
      headers: { cookie: this.cookie },
    });
    await answer.text();
    return this.get(`/executions/${execution}`);
  }
}
