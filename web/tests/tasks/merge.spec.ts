import { expect, task } from "../support/test";
import { turns } from "../support/conversation";

task("merge two answers by their differences", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "There were eleven grey herons at the north shore.");
  const second = await person.edit(first, "There were nine grey herons at the south shore.");
  await page.goto(`${skein.origin}/compare?nodes=${first.id},${second.id}`);
  await expect(page.getByRole("main").locator("ins").first()).toBeVisible();

  await hands.act(page.getByRole("button", { name: "Merge…" }), "m");
  const sheet = page.getByRole("dialog", { name: "Merge two answers" });
  const result = sheet.getByRole("textbox", { name: "Merged text" });
  await expect(result).toHaveValue("There were eleven grey herons at the north shore.");
  await hands.press(sheet.getByRole("button", { name: /south/ }));
  await expect(result).toHaveValue("There were eleven grey herons at the south shore.");
  await hands.press(sheet.getByRole("button", { name: "Save as a new version" }));
  await expect(page.getByText("Merged. The conversation continues from it.")).toBeVisible();
  await hands.press(page.getByRole("link", { name: "Open the conversation" }));
  await expect(turns(page).first()).toContainText("eleven grey herons at the south shore");
  await expect(turns(page).first()).toContainText("3/3");
});
