import { expect, task } from "../support/test";
import { answered, turns, turnWith } from "../support/conversation";

task("edit a message and switch between the wordings", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "On 3 March there were eleven herons. On 10 March there were nine.");
  await person.answered(id);
  await person.ask(id, "How many herons on 3 March?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(4);

  const question = turns(page).nth(2);
  if (hands.kind === "mouse") {
    await hands.press(question.getByRole("button", { name: "Edit as a new version" }));
  } else {
    await page.keyboard.press("k");
    await expect(turns(page).nth(2)).toBeFocused();
    await page.keyboard.press("e");
  }
  await hands.write(page.getByRole("textbox", { name: "New version" }), "How many herons on 10 March?");
  await hands.press(page.getByRole("button", { name: "Save as a new version" }));
  await expect(turnWith(page, "How many herons on 10 March?")).toHaveCount(1);
  await expect(turnWith(page, "How many herons on 3 March?")).toHaveCount(0);
  await expect(turns(page).nth(2)).toContainText("2/2");
  await expect(turns(page).nth(2)).toBeFocused();

  const kept = page.waitForResponse(/\/activate$/);
  await hands.act(turns(page).nth(2).getByRole("button", { name: "Previous alternative" }), "[");
  await expect(turnWith(page, "How many herons on 3 March?")).toHaveCount(1);
  await expect(turns(page).nth(2)).toContainText("1/2");
  await answered(page, 4);
  // The messages and the choice survive a reload.
  // It was shown before it was kept.
  await kept;
  await page.reload();
  await expect(turnWith(page, "How many herons on 3 March?")).toHaveCount(1);
});
