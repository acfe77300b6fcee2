// The status bar, the title and the icon of the tab tell what is under way; the chain is verified with a press.
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { Mouse } from "../support/hands";
import { answered, composer, lastTurn, send } from "../support/conversation";
import { answer } from "../support/held-requests";
import { expect, test } from "../support/scripted-conversation";

test("while an answer comes its speed is told, and the tab says so", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  await page.goto(`${skein.origin}/c/${conversation}`);
  await composer(page).waitFor();
  const status = page.getByRole("contentinfo", { name: "Status" });
  const icon = () => page.locator("link[rel=icon]").getAttribute("href");
  const own = await icon();
  await expect(page).toHaveTitle("A stream · Skein");
  await send(new Mouse(page), page, "Count on.");
  const saying = await model.asked();
  // Until the speed was seen: it is told over some seconds of words.
  const seen = expect(status).toContainText(/≈ \d+ tokens\/s/);
  let isSeen = false;
  void seen.finally(() => (isSeen = true)).catch(() => undefined);
  for (let count = 0; !isSeen; count++) {
    saying.say(`${count} herons stood in the water. `);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await seen;
  await expect(page).toHaveTitle("Answering… · A stream · Skein");
  expect(await icon()).toMatch(/^data:image\/svg\+xml,/);
  saying.end();
  await answered(page, 2);
  await expect(page).toHaveTitle("A stream · Skein");
  expect(await icon()).toBe(own);
  await expect(status).not.toContainText("tokens/s");
});

test("calls that wait for a worker are counted", async ({ page, skein, model, conversation }) => {
  let waiting = 3;
  await answer(page, "**/api/v1/queue", (route) => route.fulfill({ json: { waiting } }));
  await page.goto(`${skein.origin}/c/${conversation}`);
  const status = page.getByRole("contentinfo", { name: "Status" });
  await expect(status).toContainText("3 queued");
  waiting = 0;
  await expect(status).not.toContainText("queued");
  await page.unrouteAll({ behavior: "wait" });
  await send(new Mouse(page), page, "Are you there?");
  const saying = await model.asked();
  await expect(status).toContainText("1 run");
  await expect(status).not.toContainText("queued");
  saying.end();
});

test("the chain of a conversation is verified from the status bar, and the tick stays", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  await person.ask(id, "How many herons?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(lastTurn(page)).toBeVisible();
  const tick = page.getByRole("button", { name: /the hash chain of this conversation/ });
  await expect(tick).toContainText("Verify");
  await tick.press("Enter");
  await expect(tick).toContainText(/verified just now/);
  await expect(tick).toHaveAttribute("title", /^2 nodes/);
  await expectAccessible(page, "verified");
  await expectAccessibleInDark(page, "verified");
  await page.reload();
  await expect(tick).toContainText("verified");
  // A failed verification is not shown as verified.
  const broken = { verdict: "invalid", nodes: 2, firstNodeId: null, counts: {} };
  await answer(page, "**/verify", (route) => route.fulfill({ json: broken }));
  await tick.press("Enter");
  await expect(tick).toContainText("hash chain broken");
});
