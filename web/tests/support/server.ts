// A real server for tests: its own empty home, a free port, and a browser that is signed in. Nothing is left behind.
import { test as base, type BrowserContext } from "@playwright/test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const TARGET = process.env.CARGO_TARGET_DIR ?? join(process.env.HOME ?? "", ".cache/skein/target");
const PROGRAM = process.env.SKEIN_PROGRAM ?? join(TARGET, "debug/skein");
const PAGE = resolve(import.meta.dirname, "../../dist");
const START_TIME_MAX_MS = 60_000;

export class Server {
  private constructor(
    readonly url: string,
    /** The administrator's key, for seeding by the API. */
    readonly key: string,
    readonly home: string,
    readonly process: ChildProcess,
    readonly firstLink: string,
  ) {}

  /** Starts one; `home` keeps what an earlier one left there. */
  static async start({ home = mkdtempSync(join(tmpdir(), "skein-web-")), port = 0 } = {}): Promise<Server> {
    const env = { ...process.env, DEBUG_SKEIN_PAGE: PAGE, SKEIN_LOG: "warn" };
    const child = spawn(PROGRAM, ["serve", "--dir", home, "--listen", `127.0.0.1:${port}`], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { url, link } = await greeting(child);
    const made = await keyOf(url, link);
    return new Server(url, made, home, child, link);
  }

  /** A call of the API as the administrator, for seeding. */
  async call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.key}`,
      "Content-Type": "application/json",
    };
    if (method !== "GET") headers["Idempotency-Key"] = crypto.randomUUID();
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** A link that signs a browser in, once. */
  async link(): Promise<string> {
    const { url } = await this.call<{ url: string }>("POST", "/account/sign-in-links");
    return url;
  }

  async signIn(context: BrowserContext): Promise<void> {
    await context.request.get(await this.link());
  }

  /** Ends it; the home stays for another start. */
  async end(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.home, { recursive: true, force: true });
  }
}

function greeting(child: ChildProcess): Promise<{ url: string; link: string }> {
  return new Promise((resolve, reject) => {
    let out = "";
    let errors = "";
    const failed = (why: string) => reject(new Error(`skein serve ${why}: ${errors || out}`));
    const timer = setTimeout(() => failed("said nothing in time"), START_TIME_MAX_MS);
    child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.once("exit", (code) => failed(`ended with ${code}`));
    child.once("error", (error) => failed(error.message));
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const url = /listening on (\S+)/.exec(out)?.[1];
      const link = /Sign in, once: (\S+)\n/.exec(out)?.[1];
      if (!url || !link) return;
      clearTimeout(timer);
      resolve({ url, link });
    });
  });
}

/** Follows the first link as a program does and makes a key. */
async function keyOf(url: string, link: string): Promise<string> {
  const signedIn = await fetch(link, { redirect: "manual" });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const headers = {
    Cookie: cookie,
    "Content-Type": "application/json",
    "Idempotency-Key": crypto.randomUUID(),
  };
  const response = await fetch(`${url}/api/v1/keys`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "tests", scope: "admin" }),
  });
  if (!response.ok) throw new Error(`no key: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { key: string }).key;
}

interface WorkerFixtures {
  server: Server;
}
interface TestFixtures {
  /** What the browser complained about; a test that expects none looks here. */
  complaints: string[];
}

/** `test` with a server for the worker and a page that is signed in, at that server. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  server: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const server = await Server.start();
      await use(server);
      await server.remove();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  context: async ({ context, server }, use) => {
    await server.signIn(context);
    await use(context);
  },
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      await use(complaints);
    },
    { auto: true },
  ],
});
export { expect } from "@playwright/test";
