// Hears everything that no page may do: errors on the console, uncaught ones, and requests to anybody else.
import type { BrowserContext } from "@playwright/test";

export class Watch {
  readonly wrong: string[] = [];
  #allowed: RegExp[] = [];

  constructor(context: BrowserContext, origin: string) {
    context.on("console", (message) => {
      if (message.type() === "error") this.#hear(`console: ${message.text()} (${message.location().url})`);
    });
    context.on("weberror", (error) =>
      this.#hear(`uncaught: ${error.error().stack ?? error.error().message}`),
    );
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(blob|data|about):/.test(url))
        this.#hear(`left the origin: ${url}`);
    });
  }

  /** What a test provokes: a browser writes each refused request on its console. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  #hear(what: string): void {
    if (!this.#allowed.some((pattern) => pattern.test(what))) this.wrong.push(what);
  }
}
