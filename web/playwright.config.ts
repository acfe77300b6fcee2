import { defineConfig } from "@playwright/test";

/** Real Chromium against a real server: tests/support/server.ts starts one for each worker. */
export default defineConfig({
  testDir: "tests",
  testIgnore: "unit/**",
  outputDir: "test-results",
  fullyParallel: true,
  workers: process.env.SKEIN_BROWSER_WORKERS ? Number(process.env.SKEIN_BROWSER_WORKERS) : 2,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env.SKEIN_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    },
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    trace: "retain-on-failure",
  },
});
