// The built page in front of a server that does not carry it, under the policy the server would give it.
import { preview } from "vite";

export interface Front {
  origin: string;
  stop: () => Promise<void>;
}

export async function serveDist(server: string): Promise<Front> {
  const toServer = { target: server, changeOrigin: true, headers: { origin: server } };
  const front = await preview({
    logLevel: "silent",
    preview: {
      host: "127.0.0.1",
      port: 0,
      proxy: { "/api": toServer, "/health": toServer, "/sign-in": toServer },
      headers: {
        "content-security-policy":
          "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
          "connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'",
      },
    },
  });
  const address = front.httpServer.address();
  if (address === null || typeof address === "string") throw new Error("a port was expected");
  return { origin: `http://127.0.0.1:${address.port}`, stop: () => front.close() };
}
