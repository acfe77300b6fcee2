// What models get of a folded branch stands on the screen, below the turn that the branch left.
import type { Page } from "@playwright/test";
import { composer, turns } from "../support/conversation";
import { ask, expect, settled, shownTexts, test } from "../support/recorded-conversation";

const open = async (page: Page) => {
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.insertText("Fold this conversation");
  await page.keyboard.press("Enter");
};
const foldTo = async (page: Page, summary: string) => {
  await page.getByRole("textbox", { name: "Summary" }).fill(summary);
  await page.getByRole("button", { name: "Fold", exact: true }).click();
};
test("the summary of a folded fork stands on the screen as models get it, also before another fork", async ({
  page,
  model,
  begin,
}) => {
  await begin("Origin");
  await ask(page, model, "First.");
  const at = page.url();
  await turns(page).nth(1).focus();
  await page.keyboard.press("f");
  await page.waitForURL((url) => url.href !== at);
  await page.getByRole("region", { name: "Before the fork" }).waitFor();
  await ask(page, model, "In the fork.");
  await open(page);
  await foldTo(page, "The fork said seven.");
  await page.getByText("This conversation was folded into a summary.").waitFor();
  await page.goto(at);
  await composer(page).waitFor();
  await settled(page);
  const folded = '[Branch "Fork of Origin" was folded: The fork said seven.]';
  await expect(page.getByText("The fork said seven.")).toBeVisible();
  expect(await shownTexts(page)).toEqual(["First.", "Answer 1", folded]);
  expect(await ask(page, model, "Second.")).toEqual(["First.", "Answer 1", folded, "Second."]);

  await turns(page).last().focus();
  await page.keyboard.press("f");
  await page.waitForURL((url) => url.href !== at);
  await page.getByRole("region", { name: "Before the fork" }).waitFor();
  await settled(page);
  const shown = await shownTexts(page);
  expect(shown.slice(0, 4)).toEqual(["First.", "Answer 1", folded, "Second."]);
  expect(await ask(page, model, "Third.")).toEqual([...shown, "Third."]);
});
