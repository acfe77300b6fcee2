import { defineConfig } from "@playwright/test";
import { CHROMIUM, FLAGS } from "./tests/support/browser";

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  // The machine's cores are shared with the servers under test.
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  // Where only the end of a log is kept, that is where failures must stand.
  reporter: process.env.CI ? [["dot"]] : [["list"]],
  use: {
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    actionTimeout: 30_000,
    screenshot: "only-on-failure",
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: { executablePath: CHROMIUM, args: FLAGS },
  },
  projects: [
    {
      name: "page",
      testMatch: ["tasks/*.spec.ts", "gates/*.spec.ts"],
      // A new context and its processes cost three times as much as a page load. Every test has a user of its own, the runner
      // clears cookies and storage between tests, and a failed test ends its worker.
      use: { reuseContext: true },
    },
    { name: "pictures", testMatch: ["pictures/*.spec.ts"] },
    { name: "speed", testMatch: ["speed/*.spec.ts"], workers: 1 },
  ],
});
