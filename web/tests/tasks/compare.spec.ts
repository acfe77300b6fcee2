import { expect, task } from "../support/test";
import { turns } from "../support/conversation";

task("compare two answers", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "There were eleven grey herons at the north shore.");
  await person.edit(first, "There were nine grey herons at the south shore.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page).first()).toContainText("2/2");

  if (hands.kind === "mouse") {
    await hands.pick(turns(page).first().getByRole("button", { name: "More for this turn" }), /compare/i);
  } else {
    await page.keyboard.press("d");
  }
  await expect(page).toHaveURL(/\/compare\?nodes=/);
  const main = page.getByRole("main");
  for (const text of ["eleven", "nine", "north", "south"]) {
    await expect(main.locator("ins, del").filter({ hasText: text }).first()).toBeVisible();
  }
  const isFirst = (await page.getByRole("region", { name: "Text of 1" }).textContent())?.includes("eleven");
  const place = isFirst ? "1" : "2";
  await hands.act(page.getByRole("button", { name: `Choose this one ${place}` }), place);
  await expect(page.getByText("Chosen. The conversation continues from this answer.")).toBeVisible();
  await hands.press(page.getByRole("link", { name: "Open the conversation" }));
  await expect(turns(page).first()).toContainText("1/2");
});
