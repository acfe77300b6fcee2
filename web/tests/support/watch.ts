// Hears everything that no page may do: errors on the console, uncaught ones, and requests to anybody else.
import { expect, type BrowserContext, type Page, type Request } from "@playwright/test";

/** Connections that stay open. */
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
      this.#hear(`uncaught: ${error.error().stack ?? error.error().message}`),
    );
    const ended = (request: Request) => void this.#underWay.delete(request);
    context.on("requestfinished", ended);
    context.on("requestfailed", ended);
    context.on("request", (request) => {
      if (!STAYING.test(request.url())) this.#underWay.add(request);
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(blob|data|about):/.test(url))
        this.#hear(`left the origin: ${url}`);
    });
  }

  /** What a test provokes: a browser writes each refused request on its console. */
  allow(...patterns: RegExp[]): void {
    this.#allowed.push(...patterns);
  }

  /** Waits until a screen is there: its code and what it asked for have come, and nothing says that it loads. */
  async settled(page: Page, { showsLoading = false } = {}): Promise<void> {
    await page.locator("main").first().waitFor();
    await expect
      .poll(
        async () => {
          const busy = showsLoading ? 0 : await page.locator("[aria-busy=true]").count();
          return busy + [...this.#underWay].filter((request) => request.frame().page() === page).length;
        },
        { intervals: [20, 50, 100] },
      )
      .toBe(0);
  }

  #hear(what: string): void {
    if (!this.#allowed.some((pattern) => pattern.test(what))) this.wrong.push(what);
  }
}
