// A number chooses the next process: the one at that position of the list, or the one assigned to it.
import { Mouse } from "../support/hands";
import { answered, composer, lastTurn, send } from "../support/conversation";
import { expect, test } from "../support/test";

test("a number chooses who answers, and another one once it is set", async ({ page, person, skein }) => {
  const { id } = await person.begin("Presets");
  await person.say(id, "Eleven herons stood at the north shore.");
  const open = async () => {
    await page.goto(`${skein.origin}/c/${id}`);
    await expect(picker).toHaveText("Chat");
    await page.getByRole("article").first().focus();
  };
  const picker = page.getByTitle("Process that answers the next message");
  await open();
  await picker.click();
  const listed = page.getByRole("menuitemradio").filter({ has: page.locator("kbd") });
  await expect(listed.nth(1)).toBeVisible();
  const names = (await listed.allInnerTexts()).map((text) => text.split("\n")[0] ?? "");
  const second = names[1] ?? "";
  expect(second).not.toBe("Chat");
  await page.keyboard.press("Escape");
  await page.getByRole("article").first().focus();
  await page.keyboard.press("2");
  await expect(picker).toHaveText(second);
  // A number that is written is a number.
  await composer(page).fill("");
  await composer(page).press("1");
  await expect(composer(page)).toHaveValue("1");
  await expect(picker).toHaveText(second);

  await page.goto(`${skein.origin}/settings/presets`);
  await page.getByLabel("Preset 2").selectOption({ label: "Chat" });
  await page.getByLabel("Preset 9").selectOption({ label: second });
  await open();
  await page.keyboard.press("9");
  await expect(picker).toHaveText(second);
  await page.keyboard.press("2");
  await expect(picker).toHaveText("Chat");
  await page.keyboard.press("9");
  await send(new Mouse(page), page, "How many herons stood there?");
  await answered(page, 3);
  await expect(lastTurn(page)).toContainText(second);
});
