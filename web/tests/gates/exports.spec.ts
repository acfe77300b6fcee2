// Exports: a readable conversation, and a verifiable bundle that can be imported elsewhere.
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/axe";
import { answer } from "../support/held-requests";
import { expect, test } from "../support/test";

/** Picks an entry of the conversation's menu and waits for the file that comes of it. */
async function exported(page: Page, entry: string): Promise<{ name: string; bytes: Buffer }> {
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "More for this conversation" }).click();
  await page.getByRole("menuitem", { name: entry }).click();
  const file = await coming;
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

test("a conversation is exported to be read, and as a bundle", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.ask(id, "There were eleven herons. How many herons were there?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(page.getByRole("article").last()).toContainText("eleven herons");
  const text = await exported(page, "Export as Markdown");
  expect(text.name).toMatch(/\.md$/);
  expect(text.bytes.toString("utf8")).toContain("There were eleven herons.");
  const bundle = await exported(page, "Export as a bundle");
  // A zip file begins so.
  expect(bundle.bytes.subarray(0, 2).toString("latin1")).toBe("PK");
});

test("everything of one's own and the configuration are taken along, without a secret", async ({
  page,
  person,
  skein,
}) => {
  await person.api.post("/secrets", { name: "Gauge", type: "api_key", value: "not-a-real-key-9876543210" });
  await page.goto(`${skein.origin}/settings/keeping`);
  const fileOf = async (button: string) => {
    const coming = page.waitForEvent("download");
    await page.getByRole("main").getByRole("button", { name: button }).press("Enter");
    const file = await coming;
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
  };
  expect((await fileOf("Export as a bundle")).bytes.subarray(0, 2).toString("latin1")).toBe("PK");
  const { name, bytes } = await fileOf("Export configuration");
  expect(name).toMatch(/^skein-configuration-.*\.json$/);
  const found = JSON.parse(bytes.toString("utf8")) as { format: string; secrets: { name: string }[] };
  expect(found.format).toBe("skein-configuration");
  expect(found.secrets.map((secret) => secret.name)).toEqual(["Gauge"]);
  expect(bytes.toString("utf8")).not.toContain("9876543210");
});

test("an administrator is told how much room the installation takes", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/ERR_FAILED/);
  const { id } = await person.begin("Herons");
  await person.say(id, "Eleven herons.");
  await page.goto(`${skein.origin}/settings/keeping`);
  const storage = page.getByRole("region", { name: "Storage" });
  await expect(storage).toContainText(/Database\s*[\d.]+ [kM]B, SQLite/);
  // Other tests attach files to the same server.
  await expect(storage).toContainText(/Attached files\s*[\d.]+ (bytes|[kM]B), \d+\s+files?, counted/);
  await expect(storage).toContainText(/Search index\s*[\d.]+ (bytes|[kM]B), /);
  await expectAccessible(page, "storage");
  await answer(page, "**/api/v1/storage", (route) => route.abort());
  await page.reload();
  await expect(storage).toContainText("Could not load the disk usage.");
  await page.unrouteAll({ behavior: "wait" });
  await storage.getByRole("button", { name: "Try again" }).press("Enter");
  await expect(storage).toContainText("SQLite");
});

test("provenance shows the request, exports the bundle and verifies the whole store", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  const { answer } = await person.ask(id, "There were eleven herons. How many herons were there?");
  await page.goto(`${skein.origin}/c/${id}?pane=provenance&of=${answer.id}`);
  const pane = page.getByRole("tabpanel", { name: "Provenance" });
  await pane.getByRole("definition").filter({ hasText: "Show" }).first().getByRole("button").press("Enter");
  await expect(pane.getByLabel("raw request", { exact: true })).toContainText("eleven herons");
  const coming = page.waitForEvent("download");
  await pane.getByRole("button", { name: "Export as a bundle" }).press("Enter");
  expect((await coming).suggestedFilename()).toMatch(/\.zip$/);
  await pane.getByRole("button", { name: "Verify everything" }).press("Enter");
  await expect(pane.getByText("Nothing in the store was altered.")).toBeVisible();
  await expect(pane).toContainText("Store this head elsewhere");
});
