// An answer that breaks off is no loss: it is heard on, kept, gone on from, or made again.
import { composer, lastTurn, send, turns, turnWith } from "../support/conversation";
import { Mouse } from "../support/hands";
import { expect, test } from "../support/scripted-conversation";

test("the words of a stopped answer are gone on from", async ({ page, skein, model, conversation }) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to four.");
  (await model.asked()).say("one, two,");
  await expect(lastTurn(page)).toContainText("one, two,");
  await page.getByRole("button", { name: /^Stop/ }).click();
  await expect(lastTurn(page)).toContainText("The answer was cancelled.");
  await expect(lastTurn(page)).toContainText("one, two,");

  await page.getByRole("button", { name: "Continue from here" }).click();
  const on = await model.asked();
  // The saved partial answer is an alternative beside the interrupted one.
  await expect(turns(page)).toHaveCount(3);
  await expect(turns(page).nth(1)).toContainText("one, two,");
  await expect(turns(page).nth(1)).toContainText("2/2");
  on.say("three, four.");
  on.end();
  await expect(lastTurn(page)).toContainText("three, four.");
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
  // The two are read as one: the second says that it goes on.
  await expect(lastTurn(page)).toContainText("continued");
  await expect(turns(page).nth(1)).not.toContainText("continued");
  await page.reload();
  await expect(turnWith(page, "one, two,")).toHaveCount(1);
  await expect(lastTurn(page)).toContainText("three, four.");
  expect(on.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(on.messages.at(-1)?.content).toContain("one, two,");
});

test("the words of a broken answer are kept, and it is made again", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to four.");
  (await model.asked()).say("one, two,");
  await expect(lastTurn(page)).toContainText("one, two,");
  await page.getByRole("button", { name: /^Stop/ }).click();
  await expect(lastTurn(page)).toContainText("The answer was cancelled.");
  // It is still there for whoever comes back.
  await page.reload();
  await expect(lastTurn(page)).toContainText("The answer was cancelled.");
  await expect(lastTurn(page)).toContainText("one, two,");

  await page.getByRole("button", { name: "Regenerate" }).click();
  const again = await model.asked();
  again.say("one, two, three, four.");
  again.end();
  await expect(lastTurn(page)).toContainText("one, two, three, four.");
  await expect(lastTurn(page)).toContainText("2/2");

  await page.getByRole("button", { name: "Previous alternative" }).last().click();
  await page.getByRole("button", { name: "Save partial answer" }).click();
  await expect(lastTurn(page)).toContainText("3/3");
  await expect(lastTurn(page)).not.toContainText("The answer was cancelled.");
  await expect(lastTurn(page)).toContainText("one, two,");
});

test("an answer goes on when its server comes back", async ({ page, skein, model, conversation, watch }) => {
  watch.allow(/net::|status of 50/);
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to four.");
  (await model.asked()).say("one, ");
  await expect(lastTurn(page)).toContainText("one,");
  await skein.kill();
  await expect(page.getByText("The server is unreachable.").first()).toBeVisible();
  await skein.restart();
  // A question to a model does no harm twice: it is asked again, and what was heard of the first answer is void.
  const again = await model.asked();
  again.say("one, two, three, four.");
  again.end();
  await expect(lastTurn(page)).toContainText("one, two, three, four.");
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
  await expect(page.getByText("The server is unreachable.")).toHaveCount(0);
});

test("after a stopped answer the next message continues the question", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to four.");
  (await model.asked()).say("one,");
  await expect(lastTurn(page)).toContainText("one,");
  await page.getByRole("button", { name: /^Stop/ }).click();
  await expect(lastTurn(page)).toContainText("The answer was cancelled.");
  await send(new Mouse(page), page, "No, to two.");
  const next = await model.asked();
  expect(next.messages.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
    "Count to four.\n\nNo, to two.",
  ]);
  next.say("one, two.");
  next.end();
  await expect(lastTurn(page)).toContainText("one, two.");
});
