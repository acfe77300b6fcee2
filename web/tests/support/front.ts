// The built page in front of a server that does not carry it, under the policy the server would give it.
import { readFile } from "node:fs/promises";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join } from "node:path";

export interface Front {
  origin: string;
  stop: () => Promise<void>;
}

const DIST = join(import.meta.dirname, "../../dist");
const PASSED_ON = /^\/(api|health|sign-in)(\/|$)/;
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'";
const TYPES: Record<string, string> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
};

function passOn(server: string, asked: IncomingMessage, answer: ServerResponse): void {
  const headers = { ...asked.headers, host: new URL(server).host };
  if (headers.origin) headers.origin = server;
  const passed = request(server + (asked.url ?? "/"), { method: asked.method, headers }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers);
    answer.flushHeaders();
    given.on("error", () => answer.destroy());
    given.pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  answer.on("close", () => passed.destroy());
  asked.pipe(passed);
}

async function serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const path = new URL(asked.url ?? "/", "http://page").pathname;
  const name = extname(path) ? path : "/index.html";
  try {
    const bytes = await readFile(join(DIST, name));
    answer.writeHead(200, { "content-type": TYPES[extname(name)] ?? "", "content-security-policy": POLICY });
    answer.end(bytes);
  } catch {
    answer.writeHead(404).end();
  }
}

export async function serveDist(server: string): Promise<Front> {
  const front = createServer((asked, answer) => {
    if (PASSED_ON.test(asked.url ?? "/")) passOn(server, asked, answer);
    else void serve(asked, answer);
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const address = front.address();
  if (address === null || typeof address === "string") throw new Error("a port was expected");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}
