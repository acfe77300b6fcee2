// A stream belongs to the server: reload, another tab and a lost connection lose nothing of it.
import { composer, lastTurn, send } from "../support/conversation";
import { Mouse } from "../support/hands";
import { answer, drawn } from "../support/held-requests";
import { expect, test } from "../support/scripted-conversation";

test("a reload in the middle of a stream loses nothing", async ({ page, skein, model, conversation }) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Count to four.");
  const saying = await model.asked();
  saying.say("one, ");
  saying.say("two, ");
  await expect(lastTurn(page)).toContainText("one, two,");
  await page.reload();
  await expect(lastTurn(page)).toContainText("one, two,");
  saying.say("three, ");
  await expect(lastTurn(page)).toContainText("one, two, three,");
  saying.say("four.");
  saying.end();
  await expect(lastTurn(page)).toContainText("one, two, three, four.");
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
  await page.reload();
  await expect(lastTurn(page)).toContainText("one, two, three, four.");
});

test("two tabs agree without a reload", async ({ page, context, skein, model, conversation }) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  const other = await context.newPage();
  await other.goto(`${skein.origin}/c/${conversation}`);
  await composer(other).waitFor();
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Say yes.");
  const saying = await model.asked();
  saying.say("yes, ");
  for (const tab of [page, other]) await expect(lastTurn(tab)).toContainText("yes,");
  saying.say("of course.");
  saying.end();
  for (const tab of [page, other]) {
    await expect(lastTurn(tab)).toContainText("yes, of course.");
    await expect(tab.locator("article[aria-busy=true]")).toHaveCount(0);
  }
  // The tab that listened for both is closed: the other one listens from then on.
  await page.close();
  await send(new Mouse(other), other, "Say no.");
  (await model.asked()).end();
  await expect(other.getByRole("article")).toHaveCount(4);
});

test("an answer is stopped and what was said stays; when it is not, that is said beside it", async ({
  page,
  skein,
  model,
  conversation,
  watch,
}) => {
  watch.allow(/status of 500/);
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Never end.");
  (await model.asked()).say("and so on ");
  await expect(lastTurn(page)).toContainText("and so on");
  const error = { code: "internal", message: "not now", details: {}, correlationId: "0", retryable: true };
  await answer(page, /\/cancel$/, (route) => route.fulfill({ status: 500, json: { error } }));
  await page.getByRole("button", { name: /^Stop/ }).click();
  await expect(lastTurn(page).getByRole("alert")).toContainText("Could not stop this answer.");
  await page.unrouteAll({ behavior: "wait" });
  await lastTurn(page).getByRole("button", { name: "Try again" }).click();
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
});

test("a late response of an answer does not move the path back to it", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  await send(new Mouse(page), page, "Say a word.");
  const first = await model.asked();
  first.say("This.");
  first.end();
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
  await expect(lastTurn(page)).toContainText("This.");
  await lastTurn(page).getByRole("button", { name: "Generate another answer" }).click();
  const second = await model.asked();
  second.say("That.");
  await expect(lastTurn(page)).toContainText("2/2");

  // It ends, and is read as the one that is shown; by the time that is heard, somebody went back to the first.
  let held = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await answer(page, "**/api/v1/nodes/*", async (route) => {
    const response = await route.fetch();
    held += 1;
    await gate;
    await route.fulfill({ response });
  });
  second.end();
  await expect.poll(() => held).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Previous alternative" }).last().click();
  await expect(lastTurn(page)).toContainText("1/2");
  let heard = 0;
  // The ends of requests are not always told; their answers are.
  page.on("response", (response) => (heard += response.url().includes("/api/v1/nodes/") ? 1 : 0));
  release();
  await expect.poll(() => heard).toBeGreaterThanOrEqual(held);
  await drawn(page);
  await expect(lastTurn(page)).toContainText("This.");
  await expect(lastTurn(page)).toContainText("1/2");
});
