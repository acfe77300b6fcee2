// Closing returns the focus to where it was, or to the nearest element left.
import { held } from "../support/held-requests";
import { lastTurn, turnWith } from "../support/conversation";
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
  const log = page.getByRole("log", { name: "Messages" });
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

test("without an earlier focus, closing focuses the screen", async ({ page, skein }) => {
  await page.goto(`${skein.origin}/catalog/services`);
  await page.getByRole("navigation", { name: "Catalog" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search or run a command" });
  await expect(field).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
  // First element for Tab.
  await expect(page.locator("main")).toBeFocused();
});

test("when a decision removes its button, the focus moves to the element beside it", async ({
  page,
  person,
  skein,
  watch,
}) => {
  for (const name of ["laptop", "script", "telephone"])
    await person.api.post("/keys", { name, scope: "read" });
  await page.goto(`${skein.origin}/settings/access`);
  const dialog = page.getByRole("dialog", { name: "Revoke this key?" });
  const revoke = async (name: string) => {
    await page.getByRole("button", { name: `Revoke ${name}` }).press("Enter");
    await dialog.getByRole("button", { name: "Revoke" }).press("Enter");
    await expect(dialog).toBeHidden();
  };
  const isAmongKeys = () =>
    page.evaluate(() => document.activeElement?.closest("section")?.querySelector("h2")?.textContent);

  await revoke("script");
  await expect(page.getByRole("button", { name: "Revoke script" })).toHaveCount(0);
  await expect.poll(isAmongKeys).toBe("Your keys");

  // A person who acted elsewhere meanwhile stays there.
  const read = await held(page, /\/api\/v1\/keys(\?|$)/, "GET");
  await revoke("laptop");
  await read.made;
  await page.getByRole("contentinfo").getByText("Connected").click();
  read.letGo();
  await expect(page.getByRole("button", { name: "Revoke laptop" })).toHaveCount(0);
  await watch.settled(page);
  await expect(page.getByRole("button", { name: "Revoke telephone" })).toBeVisible();
  expect(await isAmongKeys()).toBeUndefined();
});

test("nothing is left behind of a dialog that was opened often", async ({ page, skein, watch }) => {
  await page.addInitScript(() => {
    const listening = new Set<unknown>();
    const { addEventListener, removeEventListener } = window;
    window.addEventListener = function (this: Window, ...given: Parameters<typeof addEventListener>) {
      listening.add(given[1]);
      return addEventListener.apply(window, given);
    } as typeof addEventListener;
    window.removeEventListener = function (this: Window, ...given: Parameters<typeof removeEventListener>) {
      listening.delete(given[1]);
      return removeEventListener.apply(window, given);
    } as typeof removeEventListener;
    Object.assign(window, { listening });
  });
  await page.goto(skein.origin);
  // Listeners of the screen may be added once it has loaded.
  await watch.settled(page);
  const listening = () =>
    page.evaluate(() => (window as unknown as { listening: Set<unknown> }).listening.size);
  const dialog = page.getByRole("dialog", { name: "Keys" });
  const open = async () => {
    await page.keyboard.press("?");
    await expect(dialog).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  };
  await open();
  const before = await listening();
  for (let times = 0; times < 3; times++) await open();
  expect(await listening()).toBe(before);
});
