// Hears everything that no page may do: errors on the console, uncaught ones, and requests to anybody else.
import { expect, type BrowserContext, type Page, type Request } from "@playwright/test";
import { drawn } from "./held-requests";

/** Requests of a screen, and connections that stay open. */
const ASKED = /\/api\/v1\//;
const STAYING = /\/api\/v1\/(events|executions\/[^/]+\/stream)/;

export class Watch {
  readonly wrong: string[] = [];
  #allowed: RegExp[] = [];
  #underWay = new Set<Request>();

  constructor(context: BrowserContext, origin: string) {
    context.on("console", (message) => {
      if (message.type() === "error") this.#hear(`console: ${message.text()} (${message.location().url})`);
    });
    context.on("weberror", (error) =>
      this.#hear(`uncaught: ${error.error().stack || error.error().message || error.error().name}`),
    );
    // The ends of requests are not always told; their answers are.
    context.on("response", (response) => void this.#underWay.delete(response.request()));
    context.on("requestfailed", (request) => void this.#underWay.delete(request));
    context.on("request", (request) => {
      if (ASKED.test(request.url()) && !STAYING.test(request.url())) this.#underWay.add(request);
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(blob|data|about):/.test(url))
        this.#hear(`left the origin: ${url}`);
    });
  }

  /** Console errors that a test provokes: a browser logs each refused request. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  /** Waits until a screen is there: its code and what it asked for have come, and nothing says that it loads. */
  async settled(page: Page, { showsLoading = false } = {}): Promise<void> {
    await page.locator("main").first().waitFor();
    await expect
      .poll(
        async () => {
          // The response must be drawn and may cause the next request.
          await drawn(page);
          const busy = showsLoading ? [] : await page.locator("[aria-busy=true]").all();
          const asked = [...this.#underWay].filter((request) => request.frame().page() === page);
          return [...busy.map(String), ...asked.map((request) => request.url())];
        },
        { intervals: [20, 50, 100] },
      )
      .toEqual([]);
  }

  #hear(what: string): void {
    if (!this.#allowed.some((pattern) => pattern.test(what))) this.wrong.push(what);
  }
}
