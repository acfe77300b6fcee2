// Whoever closes something goes on where they were, or as near as something is left.
import { lastTurn, turnWith } from "../support/talk";
import { expect, test } from "../support/test";

test("a dialog whose opener is gone leads to what stands in its place", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "Two herons.");
  await person.edit(first, "Three herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  await lastTurn(page).click();
  await page.keyboard.press("Shift+g");
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  await expect(sheet).toBeVisible();
  await person.activate(first);
  await expect(turnWith(page, "Two herons.")).toBeAttached();
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  const log = page.getByRole("log", { name: "What was said" });
  await expect.poll(() => log.evaluate((one) => one.contains(document.activeElement))).toBe(true);
});

test("a dialog that leads elsewhere takes nobody back", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  const herons = await person.say(id, "Two herons.");
  const storks = await person.say(id, "Three storks.");
  await person.api.post("/relations", { kind: "linked_with", source: storks.id, target: herons.id });
  await page.goto(`${skein.origin}/c/${id}`);
  await turnWith(page, "storks").click();
  await turnWith(page, "storks").getByRole("button", { name: "More for this turn" }).click();
  await page.getByRole("menuitem", { name: "Links to other turns…" }).click();
  const sheet = page.getByRole("dialog", { name: "Links of this turn" });
  await sheet.getByRole("link", { name: "Two herons." }).click();
  await expect(sheet).toBeHidden();
  await expect(turnWith(page, "herons")).toBeFocused();
});

test("where nothing had the focus, closing leads to the screen", async ({ page, skein }) => {
  await page.goto(`${skein.origin}/catalogue/services`);
  await page.getByRole("navigation", { name: "Catalogue" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "What to do, or where to go" });
  await expect(field).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
  // Where Tab begins.
  await expect(page.locator("main")).toBeFocused();
});
