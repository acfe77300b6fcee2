// A message that is sent while an answer comes waits for it in sight, and Stop stands where one writes.
import type { Page } from "@playwright/test";
import { Mouse } from "../support/hands";
import { answered, composer, lastTurn, send, turns, turnWith } from "../support/conversation";
import { expect, test } from "../support/scripted-conversation";

const queue = async (page: Page, text: string) => {
  await composer(page).fill(text);
  await page.getByRole("button", { name: "Queue", exact: true }).click();
  await expect(composer(page)).toHaveValue("");
};

test("a message sent while an answer comes is queued and goes out after it, once", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to two.");
  const first = await model.asked();
  first.say("one, ");
  await expect(lastTurn(page)).toContainText("one,");
  await queue(page, "And then?");
  const queued = turnWith(page, "And then?");
  await expect(queued).toContainText("queued");
  await expect(queued).toContainText("Queued. Sent when the answer above is completed.");
  await expect(page.getByRole("button", { name: "Queue", exact: true })).toBeVisible();
  // It is kept: a reload changes nothing.
  await page.reload();
  await expect(queued).toContainText("queued");
  first.say("two.");
  first.end();
  const second = await model.asked();
  expect(second.messages.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
    "Count to two.",
    "one, two.",
    "And then?",
  ]);
  second.say("three.");
  second.end();
  await answered(page, 4);
  await expect(page.getByText("queued")).toHaveCount(0);
  await expect(lastTurn(page)).toContainText("three.");
});

test("a queued message goes out on its branch and leaves its writer on the branch they went to", async ({
  page,
  skein,
  person,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "One.");
  const first = await model.asked();
  first.say("first");
  first.end();
  await answered(page, 2);
  await turns(page).first().getByRole("button", { name: "Edit as a new version" }).click();
  await page.getByRole("textbox", { name: "New version" }).fill("Two.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByRole("button", { name: "Answer this version" }).click();
  const second = await model.asked();
  second.say("second");
  await expect(lastTurn(page)).toContainText("second");
  await queue(page, "And then?");
  const kept = page.waitForResponse(/\/activate$/);
  await turns(page).first().getByRole("button", { name: "Previous alternative" }).click();
  await kept;
  const stands = await person.end(conversation);
  second.end();
  const third = await model.asked();
  expect(third.messages.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
    "Two.",
    "second",
    "And then?",
  ]);
  third.say("third");
  third.end();
  await expect(page.getByRole("contentinfo", { name: "Status" })).not.toContainText("unsent");
  expect(await person.end(conversation), "the path of the server").toBe(stands);
  await expect(turns(page)).toHaveCount(2);
  await page.reload();
  await expect(turns(page)).toHaveCount(2);
  await expect(turns(page).first()).toContainText("One.");
  await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
  await answered(page, 4);
  await expect(lastTurn(page)).toContainText("third");
});

test("a refused message holds back only what follows it, and links lead to it on its branch", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "One.");
  const first = await model.asked();
  first.say("first");
  first.end();
  await answered(page, 2);
  await turns(page).first().getByRole("button", { name: "Edit as a new version" }).click();
  await page.getByRole("textbox", { name: "New version" }).fill("Two.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByRole("button", { name: "Answer this version" }).click();
  (await model.asked()).say("second");
  await expect(lastTurn(page)).toContainText("second");
  await queue(page, "Held.");
  await turns(page).first().getByRole("button", { name: "Previous alternative" }).click();
  await expect(turns(page).first()).toContainText("One.");
  await page.getByRole("region", { name: "Message box" }).getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Some messages were not sent.")).toBeVisible();
  await send(new Mouse(page), page, "On the first.");
  const next = await model.asked();
  next.say("third");
  next.end();
  await answered(page, 4);
  await expect(lastTurn(page)).toContainText("third");
  await page.getByRole("status").getByRole("link", { name: "A stream" }).click();
  await expect(turnWith(page, "Held.").getByRole("alert")).toContainText("The answer did not complete.");
  await expect(turns(page).first()).toContainText("Two.");
});

test("Stop is in the composer, acts by its key while somebody writes, and what waited is not sent silently", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  const writing = page.getByRole("region", { name: "Message box" });
  const stop = writing.getByRole("button", { name: "Stop" });
  await expect(stop).toHaveCount(0);
  await send(new Mouse(page), page, "Never end.");
  (await model.asked()).say("and so on ");
  await expect(lastTurn(page)).toContainText("and so on");
  await expect(stop).toContainText("Ctrl .");
  await queue(page, "Enough.");
  await composer(page).press("Control+.");
  await expect(stop).toHaveCount(0);
  const waiting = turnWith(page, "Enough.");
  await expect(waiting.getByRole("alert")).toContainText("The answer did not complete.");
  await waiting.getByRole("button", { name: "Try again" }).click();
  const next = await model.asked();
  expect(next.messages.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
    "Never end.\n\nEnough.",
  ]);
  next.say("Good.");
  next.end();
  await expect(turns(page)).toHaveCount(3);
  await expect(lastTurn(page)).toContainText("Good.");
});
