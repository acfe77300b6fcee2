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
