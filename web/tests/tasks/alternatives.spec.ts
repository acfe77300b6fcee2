import { expect, task } from "../support/test";
import { answered, turns } from "../support/conversation";

task("three alternatives from two processes", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Three answers");
  await person.say(id, "The water stood at 1.42 m on 3 March.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(1);
  const turn = turns(page).first();

  // Two by one process, then one by another beside them.
  if (hands.kind === "mouse") {
    await hands.pick(turn.getByRole("button", { name: "More for this turn" }), /several answers/i);
  } else {
    await page.keyboard.press("Shift+g");
  }
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  const chat = sheet.getByRole("checkbox", { name: "Chat", exact: true });
  const memory = sheet.getByRole("checkbox", { name: "Chat with memory", exact: true });
  await expect(chat).toBeChecked();
  await expect(memory).not.toBeChecked();
  await hands.write(sheet.getByRole("spinbutton", { name: "Answers per process" }), "2");
  await hands.press(sheet.getByRole("button", { name: "Generate 2 answers" }));
  // The answers may be told of before the question is answered.
  await expect(sheet).toBeHidden();
  await answered(page, 2);
  const answer = turns(page).nth(1);
  await expect(answer).toContainText("/2");

  if (hands.kind === "mouse") {
    await hands.pick(answer.getByRole("button", { name: "More for this turn" }), /several answers/i);
  } else {
    await page.keyboard.press("j");
    await expect(answer).toBeFocused();
    await page.keyboard.press("Shift+g");
  }
  await expect(chat).toBeChecked();
  await hands.press(chat);
  await hands.press(memory);
  await hands.write(sheet.getByRole("spinbutton", { name: "Answers per process" }), "1");
  await hands.press(sheet.getByRole("button", { name: "Generate 1 answer" }));
  await expect(sheet).toBeHidden();
  await expect(turns(page).nth(1)).toContainText("/3");
  await answered(page, 2);

  // All of them, newest first, each with who made it.
  await hands.act(
    turns(page)
      .nth(1)
      .getByRole("button", { name: /show all/ }),
    "v",
  );
  const menu = page.getByRole("menu", { name: "Alternatives, newest first" });
  await expect(menu.getByRole("menuitemradio")).toHaveCount(3);
  await expect(menu.getByRole("menuitemradio").first()).toContainText(/3\. Chat with memory v1.*just now/s);
  await expect(menu.getByRole("menuitemradio").last()).toContainText(/1\. Chat v1.*just now/s);
});
