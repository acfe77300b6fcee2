// What a person takes along: a conversation to read, and one that can be verified and brought in elsewhere.
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
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
