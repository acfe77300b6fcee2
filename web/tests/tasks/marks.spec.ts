// Marks of a turn: remarks, tags, links and the edit history. By keys alone.
import { Keyboard } from "../support/hands";
import { turnWith } from "../support/conversation";
import { expect, test } from "../support/test";

test.use({ by: "keyboard" });

test("write a remark on a turn", async ({ page, person, skein, hands }) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = turnWith(page, "Two herons.");
  await (hands as Keyboard).reach(turn);
  await page.keyboard.press("a");
  const box = page.getByRole("textbox", { name: "Remark (not sent to models)" });
  await expect(box).toBeFocused();
  await page.keyboard.type("Counted by");
  await page.keyboard.press("Escape");
  await expect(turn).toBeFocused();
  await page.keyboard.press("a");
  await expect(box).toHaveValue("Counted by");
  await page.keyboard.press("End");
  await page.keyboard.type(" Rosa");
  await page.keyboard.press("Control+Enter");
  const remarks = turn.getByRole("list", { name: "Remarks" });
  await expect(remarks.getByRole("listitem")).toHaveText(/Counted by Rosa/);
  await expect(turn).toBeFocused();
  await page.reload();
  await expect(remarks).toContainText("Counted by Rosa");
});

test("tag a turn, tag another alike, and take a tag away", async ({ page, person, skein, hands }) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  await person.say(id, "Three storks.");
  await page.goto(`${skein.origin}/c/${id}`);
  const storks = turnWith(page, "Three storks.");
  const sheet = page.getByRole("dialog", { name: "Tags of this turn" });
  await (hands as Keyboard).reach(storks);
  await page.keyboard.press("t");
  await expect(sheet.getByRole("textbox", { name: "New tag" })).toBeFocused();
  await page.keyboard.type("birds");
  await page.keyboard.press("Enter");
  await expect(sheet.getByRole("button", { name: "Remove birds" })).toBeVisible();
  await expect(sheet.getByRole("textbox", { name: "New tag" })).toHaveValue("");
  await page.keyboard.press("Escape");
  await expect(storks).toBeFocused();
  await expect(storks).toContainText("birds");

  await page.keyboard.press("k");
  const herons = turnWith(page, "Two herons.");
  await expect(herons).toBeFocused();
  await page.keyboard.press("t");
  // Tags used elsewhere are suggested.
  await hands.press(sheet.getByRole("button", { name: "birds", exact: true }));
  await expect(sheet.getByRole("button", { name: "Remove birds" })).toBeVisible();
  await hands.press(sheet.getByRole("button", { name: "Remove birds" }));
  await expect(sheet.getByText("No tags yet.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(herons).toBeFocused();
  await expect(herons).not.toContainText("birds");
  await expect(storks).toContainText("birds");
});

test("link two turns, follow the link, and remove it", async ({ page, person, skein, hands }) => {
  const { id } = await person.begin("Herons");
  const herons = await person.say(id, "Two herons.");
  await person.say(id, "Three storks.");
  await page.goto(`${skein.origin}/c/${id}`);
  const sheet = page.getByRole("dialog", { name: "Links of this turn" });
  const storks = turnWith(page, "Three storks.");
  const links = async (turn: typeof storks) => {
    await hands.pick(turn.getByRole("button", { name: "More for this turn" }), "Links to other turns…");
    await expect(sheet).toBeVisible();
  };
  await links(storks);
  await expect(sheet.getByText("No links yet.")).toBeVisible();
  await expect(sheet.getByRole("textbox")).toBeFocused();
  await page.keyboard.insertText(`${skein.origin}/c/${id}/n/${herons.localId}`);
  await page.keyboard.press("Enter");
  await hands.press(sheet.getByRole("link", { name: "Two herons." }));
  await expect(sheet).toBeHidden();
  await expect(turnWith(page, "Two herons.")).toBeFocused();
  // It is there from both ends, in the inspector too.
  await page.goto(`${skein.origin}/c/${id}/n/${herons.localId}?pane=node&of=${herons.id}`);
  const pane = page.getByRole("complementary");
  await expect(pane.getByRole("button", { name: "Three storks.", exact: true })).toBeVisible();
  await links(turnWith(page, "Two herons."));
  await expect(sheet.getByRole("link", { name: "Three storks." })).toBeVisible();
  await hands.press(sheet.getByRole("button", { name: "Remove this link" }));
  await expect(sheet.getByText("No links yet.")).toBeVisible();
});

test("see how a text was edited, and go back to a wording", async ({ page, person, skein, hands }) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "There were two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  await (hands as Keyboard).reach(turnWith(page, "two herons"));
  await page.keyboard.press("e");
  await hands.write(page.getByRole("textbox", { name: "New version" }), "There were nine herons.");
  await page.keyboard.press("Control+Enter");
  const turn = turnWith(page, "nine herons");
  await expect(turn).toBeFocused();
  await hands.press(turn.getByRole("button", { name: "edited" }));
  const sheet = page.getByRole("dialog", { name: "Edit history" });
  await expect(sheet.locator("del")).toHaveText(/two/);
  await expect(sheet.locator("ins")).toHaveText(/nine/);
  await hands.press(sheet.getByRole("button", { name: "Show it" }).first());
  await expect(sheet).toBeHidden();
  await expect(turnWith(page, "two herons")).toBeVisible();
  const log = page.getByRole("log", { name: "Messages" });
  await expect.poll(() => log.evaluate((one) => one.contains(document.activeElement))).toBe(true);
});
