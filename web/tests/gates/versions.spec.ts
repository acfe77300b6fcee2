// Each version of a question shows its own continuation; answers to another version are marked, and nothing is sent to
// another branch silently.
import { Mouse } from "../support/hands";
import { answered, composer, lastTurn, send, turns } from "../support/conversation";
import { expect, test } from "../support/test";

test("going back to a version shows its own answer, also after a reload", async ({ page, person, skein }) => {
  const { id } = await person.begin("Versions");
  const { question, answer } = await person.ask(id, "There were two herons. How many herons?");
  const edited = await person.edit(question, "There were five cranes. How many cranes?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(page.getByText("This replies to a different version of your question.")).toBeVisible();
  await page.getByRole("button", { name: "Answer this version" }).click();
  await expect(page.getByText("This replies to a different version of your question.")).toHaveCount(0);
  await answered(page, 2);
  await expect(lastTurn(page)).toContainText("five");
  for (const back of [false, true]) {
    if (back) await page.reload();
    const kept = page.waitForResponse(/\/activate$/);
    await turns(page).first().getByRole("button", { name: "Previous alternative" }).click();
    await expect(turns(page).first()).toContainText("two herons");
    await expect(lastTurn(page)).toContainText("two");
    await expect(lastTurn(page).getByText("stale")).toHaveCount(0);
    await kept;
    expect(await person.end(id)).toBe(answer.id);
    await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
    await expect(lastTurn(page)).toContainText("five");
  }
  expect(edited.id).not.toBe(question.id);
});

test("sending below an answer to another version asks which version is meant", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Which");
  const { question, answer } = await person.ask(id, "There were two herons. How many herons?");
  const edited = await person.edit(question, "There were five cranes. How many cranes?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(page.getByRole("button", { name: "Answer this version" })).toBeVisible();
  await composer(page).fill("And who counted?");
  await composer(page).press("Enter");
  const written = page.getByRole("region", { name: "Message box" });
  await expect(written).toContainText("Which version does this message continue?");
  // However often it is sent, nothing goes out before a version is chosen.
  await expect(composer(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await written.getByRole("button", { name: "Send", exact: true }).dblclick();
  await composer(page).focus();
  await page.keyboard.type(" Now.");
  await composer(page).fill("And who counted?");
  await expect(written).toContainText("Which version does this message continue?");
  expect(await person.end(id), "nothing was sent").toBe(edited.id);
  await page.keyboard.press("Shift+Tab");
  await expect(written.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(composer(page)).toBeFocused();
  await expect(composer(page)).toHaveValue("And who counted?");
  expect(await person.end(id), "nothing was sent").toBe(edited.id);

  await composer(page).press("Enter");
  await written.getByRole("button", { name: "Version 1, with its answers" }).click();
  await answered(page, 4);
  await expect(turns(page).first()).toContainText("two herons");
  const { data } = await person.api.get<{ data: { id: string }[] }>(`/conversations/${id}/path`);
  expect(data.slice(0, 2).map((node) => node.id)).toEqual([question.id, answer.id]);

  await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
  await composer(page).fill("And when?");
  await composer(page).press("Enter");
  await written.getByRole("button", { name: "Version 2, without an answer" }).click();
  await answered(page, 3);
  await expect(turns(page).nth(1)).toContainText("And when?");
  await expect(turns(page).first()).toContainText("five cranes");
  await send(new Mouse(page), page, "Thanks.");
  await answered(page, 5);
});
