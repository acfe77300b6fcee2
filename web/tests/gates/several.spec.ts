// Only a person chooses the next process, never the answers to choose from.
import { answered, lastTurn } from "../support/conversation";
import { expect, test } from "../support/test";

test("one answer of another process to an unanswered question does not change who answers next", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("One of another", { processId: await person.process("Chat") });
  await person.say(id, "There were two herons. How many herons?");
  await page.goto(`${skein.origin}/c/${id}`);
  const next = page
    .getByRole("region", { name: "Message box" })
    .getByTitle("Process that answers the next message");
  await expect(next).toHaveText("Chat");
  await lastTurn(page).getByRole("button", { name: "More for this turn" }).click();
  await page.getByRole("menuitem", { name: /^Generate several answers/ }).click();
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  await sheet.getByRole("checkbox", { name: "Chat", exact: true }).uncheck();
  await sheet.getByRole("checkbox", { name: "Chat with memory" }).check();
  await sheet.getByRole("button", { name: "Generate 1 answer" }).click();
  await expect(sheet).toBeHidden();
  await answered(page, 2);
  await expect(next).toHaveText("Chat");
  await page.reload();
  await expect(next).toHaveText("Chat");
});

test("answers to choose from do not change who answers next", async ({ page, person, skein }) => {
  const { id } = await person.begin("Several", { processId: await person.process("Chat") });
  await person.ask(id, "There were two herons. How many herons?");
  await page.goto(`${skein.origin}/c/${id}`);
  const next = page
    .getByRole("region", { name: "Message box" })
    .getByTitle("Process that answers the next message");
  await expect(next).toHaveText("Chat");
  await lastTurn(page).getByRole("button", { name: "More for this turn" }).click();
  await page.getByRole("menuitem", { name: /^Generate several answers/ }).click();
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  await sheet.getByRole("checkbox", { name: "Chat with memory" }).check();
  await sheet.getByRole("button", { name: "Generate 2 answers" }).click();
  await expect(sheet).toBeHidden();
  await answered(page, 2);
  await expect(lastTurn(page)).toContainText("/3");
  await expect(next).toHaveText("Chat");
  await page.reload();
  await expect(next).toHaveText("Chat");
});
