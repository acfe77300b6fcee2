// Two people at once: what one does is seen by the other who may look, as it happens; what is one's own is nobody else's.
import type { Page } from "@playwright/test";
import { Mouse } from "../support/hands";
import { answered, composer, lastTurn, listening, send, turns, turnWith } from "../support/conversation";
import { expect, newcomer, signIn, test } from "../support/test";
import { Watch } from "../support/watch";

const LOADED = "loaded-once";
/** Marks a page, so that it can be told whether it was loaded again since. */
const loaded = (page: Page) => page.evaluate((name) => void Reflect.set(window, name, 1), LOADED);
const isStill = (page: Page) => page.evaluate((name) => Reflect.get(window, name) === 1, LOADED);

test("two people work at the same time; one sees the other's conversation by a grant, live", async ({
  browser,
  page,
  person,
  skein,
}) => {
  const { person: anna } = await newcomer(skein, "Anna");
  const { id } = await anna.begin("Anna's survey");
  await anna.say(id, "The hide at the inlet holds six people.");
  const own = await person.begin("Ben's diary");
  await person.say(own.id, "Nobody reads my diary of cormorants.");

  const { user } = await anna.api.get<{ user: { id: string } }>("/account");
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const body = { ownerId: user.id, name: "ticket 44", reason: "Anna asked for company", until };
  const grant = await person.api.post<{ id: string }>("/grants", body);
  // Ben looks in one tab, and has his own things in another.
  const looking = await page.context().newPage();
  await looking.goto(skein.origin);
  await looking.evaluate((look) => sessionStorage.setItem("skein.look", JSON.stringify(look)), {
    grant: grant.id,
    owner: "Anna",
    until,
  });
  await looking.goto(`${skein.origin}/c/${id}`);
  await expect(turns(looking)).toHaveCount(1);
  await page.goto(`${skein.origin}/c/${own.id}`);
  await expect(turns(page)).toHaveCount(1);

  const theirs = await browser.newContext({ reducedMotion: "reduce" });
  const watch = new Watch(theirs, skein.origin);
  await signIn(theirs, skein, anna.api);
  const annas = await theirs.newPage();
  await annas.goto(`${skein.origin}/c/${id}`);
  await expect(turns(annas)).toHaveCount(1);
  for (const one of [page, looking, annas]) {
    await loaded(one);
    await listening(one);
  }

  // Both write at the same time, each in what is theirs.
  await Promise.all([
    send(new Mouse(annas), annas, "How many people does the hide hold?"),
    send(new Mouse(page), page, "How many cormorants are there?"),
  ]);
  await Promise.all([answered(annas, 3), answered(page, 3), answered(looking, 3)]);
  await expect(turnWith(looking, "How many people does the hide hold?")).toBeVisible();
  const said = await lastTurn(annas).locator(".markdown").innerText();
  await expect(lastTurn(looking).locator(".markdown")).toHaveText(said, { useInnerText: true });
  // Another answer, another branch, and a mark.
  await lastTurn(annas)
    .getByRole("button", { name: /Generate/ })
    .click();
  for (const one of [annas, looking]) {
    await expect(lastTurn(one).getByRole("group", { name: "Alternatives" })).toContainText("2/2");
    await expect(one.locator("article[aria-busy=true]")).toHaveCount(0);
  }
  await lastTurn(annas).focus();
  await annas.keyboard.press("b");
  await expect(lastTurn(annas).getByRole("button", { name: "Remove bookmark" })).toBeVisible();
  await expect(turns(looking).getByRole("button", { name: "Remove bookmark" })).toBeVisible();
  await expect(composer(looking)).toHaveCount(0);

  // Of Ben's own nothing is with Anna, nor in the tab that looks at hers; of Anna's nothing is among Ben's.
  await expect(page.getByRole("main")).not.toContainText("hide");
  for (const one of [annas, looking]) await expect(one.locator("body")).not.toContainText("cormorants");
  for (const one of [page, looking, annas]) expect(await isStill(one)).toBe(true);
  for (const [one, theirs, others] of [
    [annas, "Anna's survey", "Ben's diary"],
    [looking, "Anna's survey", "Ben's diary"],
    [page, "Ben's diary", "Anna's survey"],
  ] as const) {
    await one.goto(`${skein.origin}/conversations`);
    await expect(one.getByRole("main").getByRole("link", { name: theirs })).toBeVisible();
    await expect(one.getByRole("main").getByRole("link", { name: others })).toHaveCount(0);
  }
  const searched = annas.waitForResponse("**/api/v1/search");
  await annas.goto(`${skein.origin}/search?q=cormorants`);
  await searched;
  await expect(annas.getByRole("main")).toContainText(/nothing|no /i);
  await expect(annas.locator("[data-hit]")).toHaveCount(0);
  expect(watch.wrong).toEqual([]);
  watch.allow(/status of 404/);
  await annas.goto(`${skein.origin}/c/${own.id}`);
  await expect(annas.getByRole("alert").first()).toBeVisible();
  await expect(annas.locator("body")).not.toContainText("cormorants");
  await theirs.close();
});
