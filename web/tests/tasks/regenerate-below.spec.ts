import { expect, task } from "../support/test";
import { lastTurn, turns, turnWith } from "../support/conversation";

task("regenerate what an edit left stale", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "On 3 March there were eleven herons. On 10 March there were nine.");
  await person.answered(id);
  const { question } = await person.ask(id, "How many herons on 3 March?");
  await person.ask(id, "And on which day was that?");
  const edited = await person.edit(question, "How many herons on 10 March?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turnWith(page, "How many herons on 10 March?")).toHaveCount(1);
  await expect(turns(page)).toHaveCount(6);
  await expect(page.getByText("This replies to a different version of your question.")).toBeVisible();

  if (hands.kind === "mouse") {
    await hands.press(page.getByRole("button", { name: "Regenerate below…" }));
  } else {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Regenerate the stale answers below");
    await page.keyboard.press("Enter");
  }
  const sheet = page.getByRole("dialog", { name: "Regenerate below" });
  await expect(sheet).toContainText("2 answers will be regenerated");
  await expect(sheet).toContainText("Your message between them is copied unchanged");
  // The sheet estimates the usage first.
  await expect(sheet.getByText("Estimated from the previous answers.")).toBeVisible();
  await hands.press(sheet.getByRole("button", { name: "Regenerate 2 answers" }));
  await expect(sheet).toBeHidden();
  await expect(page.getByText("This replies to a different version of your question.")).toHaveCount(0);
  await expect(turns(page)).toHaveCount(6);
  await expect(turns(page).nth(3)).toContainText("nine");
  await expect(turns(page).nth(3)).toContainText("2/2");
  await expect(turns(page).nth(4)).toContainText("And on which day was that?");
  await expect(lastTurn(page)).toContainText("2/2");

  // The old branch is one step back, as it was.
  expect(edited.id).not.toBe(question.id);
  await hands.press(turns(page).nth(3).getByRole("button", { name: "Previous alternative" }));
  await expect(turns(page).nth(3)).toContainText("eleven");
});
