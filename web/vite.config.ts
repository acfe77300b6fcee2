import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` sends what the server answers. */
const SERVER = process.env.SKEIN_SERVER ?? "http://127.0.0.1:7420";
// The server answers to pages of its own address only.
const toServer = { target: SERVER, changeOrigin: true, headers: { origin: SERVER } };

/** Parts of several screens, but for what is fetched when it is first needed: Markdown, colours of code, the log of what was done. */
const SHARED =
  /\/(?:node_modules\/(?:svelte|esm-env|clsx)\/|src\/(?:ui\/(?!markdown\.ts|highlight)|state\/(?!operations|undoing)|api\/|keys\/|shell\/(?!Operations|subjects)|router|routes))/;

export default defineConfig({
  plugins: [svelte()],
  html: { cspNonce: "{nonce}" },
  build: {
    target: "es2022",
    // Inlined files would need `data:` in the policy of the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // For the sizes, which are looked at when all is built.
    manifest: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What every screen needs comes in one file: many small ones wait for each other.
          groups: [{ name: "page", test: SHARED }],
        },
      },
    },
    chunkSizeWarningLimit: 400,
  },
  server: { proxy: { "/api": toServer, "/health": toServer, "/sign-in": toServer } },
  test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
});
