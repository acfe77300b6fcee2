// Late responses never move a person who went elsewhere meanwhile.
import type { Page } from "@playwright/test";
import type { Node } from "../support/api";
import { answer, drawn, held } from "../support/held-requests";
import type { Person } from "../support/person";
import { lastTurn, listening, turns } from "../support/conversation";
import { expect, test } from "../support/test";

test("the list of what waits, a new conversation, a fork and a form that is saved", async ({
  home: page,
  person,
  skein,
  watch,
}) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  const process = (await person.saying()).id;
  await person.api.heard(
    (event) => event === "review.requested",
    async () => void (await person.run(process, { word: "heron" })),
  );
  const rail = page.getByRole("navigation").first();
  const elsewhere = async (was: Awaited<ReturnType<typeof held>>, answered: RegExp) => {
    await was.made;
    await rail.getByRole("link", { name: "Runs" }).click();
    await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
    const come = page.waitForResponse(answered);
    was.letGo();
    await (await come).finished();
    await watch.settled(page);
    await expect(page).toHaveURL(`${skein.origin}/runs`);
  };

  const inbox = await held(page, /\/reviews\?.*limit=200/, "GET");
  await rail.getByRole("link", { name: "Review" }).click();
  await elsewhere(inbox, /\/reviews\?.*limit=200/);
  // Nor did it take the way back.
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Review", exact: true })).toBeVisible();
  await page.goForward();

  const begun = await held(page, /\/conversations$/, "POST");
  await page.keyboard.press("c");
  await begun.made;
  await rail.getByRole("link", { name: "Home", exact: true }).click();
  await expect(page).toHaveURL(`${skein.origin}/`);
  await elsewhere(begun, /\/conversations$/);

  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(1);
  const forked = await held(page, /\/fork$/, "POST");
  await turns(page).first().click();
  await page.keyboard.press("f");
  await elsewhere(forked, /\/fork$/);

  await page.goto(`${skein.origin}/catalog/services/new`);
  const saved = await held(page, /\/services$/, "POST");
  await page.getByRole("textbox", { name: "Name" }).fill("Gauge");
  await page.getByRole("button", { name: /^(Create|Save) service/ }).click();
  await elsewhere(saved, /\/services$/);
});

test("a decision leads to the next one, unless somebody looks at another already", async ({
  page,
  person,
  skein,
}) => {
  const process = (await person.saying()).id;
  for (const word of ["heron", "stork", "crane"])
    await person.api.heard(
      (event) => event === "review.requested",
      async () => void (await person.run(process, { word })),
    );
  await page.goto(`${skein.origin}/review`);
  const inbox = page.getByRole("list", { name: "Inbox" }).getByRole("link");
  await expect(inbox).toHaveCount(3);
  await inbox.filter({ hasText: "heron" }).click();
  const decided = await held(page, /\/decision$|\/decide$/, "POST");
  await page.getByRole("button", { name: /^Approve/ }).click();
  await decided.made;
  const crane = inbox.filter({ hasText: "crane" });
  const at = skein.origin + ((await crane.getAttribute("href")) ?? "");
  await crane.click();
  await expect(page).toHaveURL(at);
  decided.letGo();
  await expect(inbox).toHaveCount(2);
  await drawn(page);
  await expect(inbox.filter({ hasText: "crane" })).toHaveAttribute("aria-current", /.+/);
  await expect(page).toHaveURL(at);
  await page.getByRole("button", { name: /^Approve/ }).click();
  await expect(inbox).toHaveCount(1);
  await expect(inbox.first()).toHaveAttribute("aria-current", /.+/);
});

test("the tellings of one's own quick turns lead nobody back", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "One heron.");
  await person.edit(await person.edit(first, "Two herons."), "Three herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(lastTurn(page)).toContainText("Three herons.");
  await page.evaluate(() => {
    const shown: string[] = [];
    const look = () => {
      const words = /\w+ herons?\./.exec(document.querySelector("article")?.textContent ?? "")?.[0];
      if (words && words !== shown.at(-1)) shown.push(words);
    };
    look();
    new MutationObserver(look).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    });
    Object.assign(window, { shown });
  });
  const activated = await held(page, /\/activate$/, "PUT");
  const before = lastTurn(page).getByRole("button", { name: "Previous alternative" });
  await before.click();
  await expect(lastTurn(page)).toContainText("Two herons.");
  await before.click();
  await expect(lastTurn(page)).toContainText("One heron.");
  await activated.made;
  const told = page.waitForResponse(new RegExp(`${first.id}/activate$`));
  activated.letGo();
  await (await told).finished();
  // A later event has arrived, so these have too.
  const { hash } = await person.api.get<{ hash: string }>(`/conversations/${id}`);
  await person.api.put(`/conversations/${id}`, { title: "Storks", basedOnHash: hash });
  await expect(page).toHaveTitle(/Storks/);
  await drawn(page);
  const shown = await page.evaluate(() => (window as unknown as { shown: string[] }).shown);
  expect(shown).toEqual(["Three herons.", "Two herons.", "One heron."]);
});

test("undo reverts the last action though an earlier one took longer", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.edit(await person.say(id, "One heron."), "Two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = turns(page).first();
  await turn.click();
  const marked = await held(page, /\/marks$/, "PUT");
  await page.keyboard.press("x");
  await marked.made;
  await page.keyboard.press("[");
  await expect(turn).toContainText("One heron.");
  await page.keyboard.press("u");
  await drawn(page);
  marked.letGo();
  await expect(turn).toContainText("Two herons.");
  await expect(turn.getByText("excluded")).toBeVisible();
});

test("undo reverts the last action though it is still on its way", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.edit(await person.say(id, "One heron."), "Two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = turns(page).first();
  await turn.click();
  await page.keyboard.press("x");
  await expect(turn.getByText("excluded")).toBeVisible();
  const activated = await held(page, /\/activate$/, "PUT");
  await page.keyboard.press("[");
  await expect(turn).toContainText("One heron.");
  await activated.made;
  await page.keyboard.press("u");
  await drawn(page);
  activated.letGo();
  await expect(turn).toContainText("Two herons.");
  await expect(turn.getByText("excluded")).toBeVisible();
});

/** Looks at a conversation of one turn, and hears what becomes of it. */
async function oneHeron(page: Page, person: Person, origin: string): Promise<Node> {
  const { id } = await person.begin("Herons");
  const heron = await person.say(id, "One heron.");
  await page.goto(`${origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(1);
  await listening(page);
  return heron;
}

test("an earlier response that arrives late does not replace a newer one", async ({
  page,
  person,
  skein,
}) => {
  const heron = await oneHeron(page, person, skein.origin);
  let letGo = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  let reads = 0;
  await answer(page, /\/api\/v1\/nodes\/[^/]+$/, async (route) => {
    const response = await route.fetch();
    reads += 1;
    if (reads === 1) await free;
    await route.fulfill({ response });
  });
  await person.mark(heron, { bookmarked: true });
  await expect.poll(() => reads).toBe(1);
  const newer = page.waitForResponse(/\/api\/v1\/nodes\/[^/]+$/);
  await person.mark(heron, { excluded: true });
  await (await newer).finished();
  await expect(turns(page).getByText("excluded")).toBeVisible();
  const older = page.waitForResponse(/\/api\/v1\/nodes\/[^/]+$/);
  letGo();
  await (await older).finished();
  await drawn(page);
  await expect(turns(page).getByText("excluded")).toBeVisible();
});

test("a response is shown though a later request failed", async ({ page, person, skein, watch }) => {
  watch.allow(/403/);
  const heron = await oneHeron(page, person, skein.origin);
  let letGo = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  let reads = 0;
  const error = { code: "forbidden", message: "Not now." };
  await answer(page, /\/api\/v1\/nodes\/[^/]+$/, async (route) => {
    reads += 1;
    if (reads > 1) return route.fulfill({ status: 403, json: { error } });
    const response = await route.fetch();
    await free;
    await route.fulfill({ response });
  });
  await person.mark(heron, { excluded: true });
  await expect.poll(() => reads).toBe(1);
  const refused = page.waitForResponse((response) => response.status() === 403);
  await person.mark(heron, { bookmarked: true });
  await (await refused).finished();
  letGo();
  await expect(turns(page).getByText("excluded")).toBeVisible();
});
