// Errors stand beside their cause with a remedy, and no typed text is lost.
import type { Page } from "@playwright/test";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { composer, lastTurn, turns } from "../support/conversation";
import { Skein } from "../support/server";
import { Watch } from "../support/watch";
import { answer } from "../support/held-requests";
import { expect, newcomer, signIn, test, type Fixtures } from "../support/test";

const TYPED = "Something that took a while to write.";

type Given = Pick<Fixtures, "page" | "person" | "skein" | "watch">;

/** Refuses what is asked there, until the routes are taken away. */
async function refuse(page: Page, at: RegExp, method: string, status: number, code = "internal") {
  const error = {
    code,
    message: `refused as ${code}`,
    details: {},
    correlationId: "fedcba9876543210",
    retryable: status === 429 || status >= 500,
  };
  await answer(page, at, (route) =>
    route.request().method() === method ? route.fulfill({ status, json: { error } }) : route.fallback(),
  );
}

/** A conversation in which nothing was said, open. */
async function opened({ page, person, skein }: Omit<Given, "watch">): Promise<void> {
  const { id } = await person.begin("Herons");
  await page.goto(`${skein.origin}/c/${id}`);
  await composer(page).waitFor();
}

/** A conversation in which something was said, open, while what is asked there is refused. */
async function openedWithout({ page, person, skein, watch }: Given, at: RegExp): Promise<void> {
  watch.allow(/status of 500/);
  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  await refuse(page, at, "GET", 500);
  await page.goto(`${skein.origin}/c/${id}`);
}

for (const [status, code, advice] of [
  [409, "record_changed", /changed it meanwhile|newest/i],
  [422, "rule_violation", undefined],
  [429, "too_many_requests", /wait/i],
  [503, "unavailable", /wait|again/i],
  [500, "internal", /again/i],
] as const) {
  test(`${status}: beside the composer, the text stays, and trying again sends it`, async ({
    page,
    person,
    skein,
    watch,
  }) => {
    watch.allow(new RegExp(`status of ${status}`));
    await opened({ page, person, skein });
    await refuse(page, /\/turns$/, "POST", status, code);
    await composer(page).fill(TYPED);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const alert = page
      .getByRole("alert")
      .filter({ hasText: `refused as ${code}` })
      .first();
    await expect(alert).toBeVisible();
    if (advice) await expect(alert).toContainText(advice);
    await expect(composer(page)).toHaveValue(TYPED);
    // Not even a reload loses it.
    await page.reload();
    await expect(composer(page)).toHaveValue(TYPED);
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await expect(turns(page).first()).toContainText(TYPED);
    await expect(composer(page)).toHaveValue("");
  });
}

test("an optimistic change is reverted with the reason when it is refused", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/status of 409/);
  const { id } = await person.begin("Taken back");
  const said = await person.say(id, "First wording.");
  await person.api.post(`/conversations/${id}/turns/${said.turnId}/alternatives`, {
    text: "Second wording.",
    editedFrom: said.id,
    makeActive: true,
  });
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(lastTurn(page)).toContainText("Second wording.");
  const error = {
    code: "record_changed",
    message: "refused",
    details: {},
    correlationId: "fe",
    retryable: false,
  };
  const holds: (() => void)[] = [];
  await answer(page, /\/(activate|marks)$/, async (route) => {
    await new Promise<void>((release) => holds.push(release));
    await route.fulfill({ status: 409, json: { error } });
  });
  const refuse = async () => {
    await expect.poll(() => holds.length).toBe(1);
    holds.pop()?.();
  };
  await lastTurn(page).getByRole("button", { name: "Previous alternative" }).click();
  await expect(lastTurn(page)).toContainText("First wording.");
  await refuse();
  await expect(lastTurn(page)).toContainText("Second wording.");
  const bookmark = lastTurn(page).getByRole("button", { name: "Remove bookmark" });
  await lastTurn(page).focus();
  await page.keyboard.press("b");
  await expect(bookmark).toBeVisible();
  await refuse();
  await expect(bookmark).toBeHidden();
  await expect(page.getByRole("alert").filter({ hasText: "refused" }).first()).toBeVisible();
});

test("an expired session is said, what was typed stays, and signing in elsewhere goes on", async ({
  page,
  context,
  person,
  newcomer,
  skein,
  watch,
}) => {
  watch.allow(/status of 401/);
  await opened({ page, person, skein });
  await composer(page).fill(TYPED);
  // The message is what is refused, not a part of the screen that still loads.
  await watch.settled(page);
  await context.clearCookies();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.getByText("This browser is no longer signed in.")).toBeVisible();
  await expect(composer(page)).toHaveValue(TYPED);
  const other = await context.newPage();
  await other.goto(newcomer.link);
  await other.close();
  await page.getByRole("button", { name: "I signed in again" }).click();
  await expect(page.getByText("This browser is no longer signed in.")).toBeHidden();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(turns(page).first()).toContainText(TYPED);
});

test("a lost connection is said, reading goes on, and what is sent waits", async ({
  page,
  context,
  person,
  skein,
  watch,
}) => {
  watch.allow(/ERR_INTERNET_DISCONNECTED|Failed to fetch|net::/);
  const { id } = await person.begin("Offline");
  await person.ask(id, "Is anybody there?");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(2);
  await context.setOffline(true);
  await composer(page).fill(TYPED);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.getByText("The server is unreachable.").first()).toBeVisible();
  await expect(page.getByText("One message is queued and will be sent")).toBeVisible();
  await expect(turns(page).nth(2)).toContainText(TYPED);
  await expect(turns(page).nth(2)).toContainText("queued");
  await expect(turns(page).first()).toContainText("Is anybody there?");
  await expectAccessible(page, "what waits");
  await expectAccessibleInDark(page, "what waits");
  await context.setOffline(false);
  await expect(turns(page)).toHaveCount(4);
  await expect(turns(page).nth(2)).not.toContainText("queued");
});

test("a server that dies and comes back is noticed, and the page goes on", async ({ browser }) => {
  const skein = await Skein.start();
  try {
    const { person } = await newcomer(skein, "Ada");
    const context = await browser.newContext();
    const watch = new Watch(context, skein.origin);
    watch.allow(/net::|status of 50/);
    await signIn(context, skein, person.api);
    const page = await context.newPage();
    await opened({ page, person, skein });
    const status = page.getByRole("contentinfo", { name: "Status" });
    await expect(status).toContainText("Connected");
    await skein.kill();
    await expect(status).toContainText("Connection lost");
    await composer(page).fill(TYPED);
    // In vain as yet, and no harm: the page tries by itself, too.
    await page.getByRole("button", { name: "Try now" }).click();
    await skein.restart();
    await expect(status).toContainText("Connected");
    await expect(composer(page)).toHaveValue(TYPED);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await expect(turns(page).first()).toContainText(TYPED);
    await expect(lastTurn(page)).toContainText("offline model");
    expect(watch.wrong).toEqual([]);
    await context.close();
  } finally {
    await skein.stop();
  }
});

test("two people change one thing: the later is told, and keeps what was written", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/status of 409/);
  const service = await person.service("Gauge");
  await page.goto(`${skein.origin}/catalog/services/${service.id}`);
  await expect(page.getByRole("heading", { name: "Gauge" })).toBeVisible();
  await page.getByRole("tab", { name: /edit|change/i }).click();
  const description = page.getByRole("textbox", { name: "Description" });
  await description.fill(TYPED);
  await person.api.put(`/services/${service.id}`, {
    description: "Changed elsewhere.",
    basedOnHash: service.hash,
  });
  await page.getByRole("button", { name: "Save service" }).click();
  await expect(page.getByText(/changed this while|was not saved/i).first()).toBeVisible();
  await expect(description).toHaveValue(TYPED);
});

test("a draft older than someone else's change warns when it is reopened", async ({
  page,
  person,
  skein,
}) => {
  const made = await person.service("Gauge");
  const editing = `${skein.origin}/catalog/services/${made.id}?tab=edit`;
  await page.goto(editing);
  const description = page.getByRole("textbox", { name: "Description" });
  await description.fill(TYPED);
  await page.goto(skein.origin);
  await person.api.put(`/services/${made.id}`, { description: "Elsewhere.", basedOnHash: made.hash });
  await page.goto(editing);
  await expect(description).toHaveValue(TYPED);
  await expect(page.getByText("Someone else changed this while you were editing.")).toBeVisible();
  await page.getByRole("button", { name: "Keep my text" }).click();
  await page.getByRole("button", { name: "Save service" }).click();
  await expect(page.getByText(TYPED)).toBeVisible();
});

test("a message that failed to load shows an error and can be loaded again", async ({
  page,
  person,
  skein,
  watch,
}) => {
  await openedWithout({ page, person, skein, watch }, /\/conversations\/[^/]+\/path/);
  await expect(turns(page).first()).toContainText("Could not load this message.");
  await expect(page.getByRole("alert").filter({ hasText: "refused as internal" })).toHaveCount(1);
  await page.unrouteAll({ behavior: "wait" });
  await turns(page).first().getByRole("button", { name: "Try again" }).click();
  await expect(turns(page).first()).toContainText("Two herons.");
  await expect(page.getByText("refused as internal")).toHaveCount(0);
});

test("a conversation without its forks is read and gone on with", async ({ page, person, skein, watch }) => {
  await openedWithout({ page, person, skein, watch }, /\/conversations\/[^/]+\/forks/);
  await expect(turns(page).first()).toContainText("Two herons.");
  const alert = page.getByRole("alert").filter({ hasText: "Could not load part of this conversation." });
  await expect(alert).toBeVisible();
  await expect(composer(page)).toBeVisible();
  await page.unrouteAll({ behavior: "wait" });
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(alert).toHaveCount(0);
});

test("a folded conversation that is not gone on with says so, and not that something was not sent", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/status of 500/);
  const { id } = await person.begin("Herons");
  const said = await person.say(id, "Two herons.");
  const fork = await person.api.post<{ id: string }>(`/conversations/${id}/fork`, { nodeId: said.id });
  const cited = await person.say(fork.id, "Two more.");
  await person.api.post(`/conversations/${fork.id}/fold`, { summary: "Four herons.", cites: [cited.id] });
  await refuse(page, /\/reopen$/, "POST", 500);
  await page.goto(`${skein.origin}/c/${fork.id}`);
  await page.getByRole("button", { name: "Continue in a new conversation" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "refused as internal" });
  await expect(alert).toContainText("The conversation was not reopened.");
  await expect(page.getByText(/not sent/i)).toHaveCount(0);
  await page.unrouteAll({ behavior: "wait" });
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(page).not.toHaveURL(new RegExp(fork.id));
  await expect(composer(page)).toBeVisible();
});

test("a conversation that is not begun says why, on whatever screen", async ({ home: page, watch }) => {
  watch.allow(/status of 429/);
  await refuse(page, /\/conversations$/, "POST", 429);
  await page.getByRole("button", { name: "New conversation" }).first().click();
  const alert = page.getByRole("alert").filter({ hasText: "The conversation was not created." });
  await expect(alert).toContainText("refused as internal");
  await page.unrouteAll({ behavior: "wait" });
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(composer(page)).toBeVisible();
  await expect(alert).toHaveCount(0);
});
