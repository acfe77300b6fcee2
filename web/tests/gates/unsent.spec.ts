// Messages sent while the server is unreachable are kept, sent in order, once each, and can be withdrawn.
import type { Page } from "@playwright/test";
import type { Schemas } from "../support/api";
import { Mouse } from "../support/hands";
import type { Person } from "../support/person";
import { composer, send, turns, turnWith } from "../support/conversation";
import { answer } from "../support/held-requests";
import { expect, test as base } from "../support/test";

const SAYING = /\/turns$/;
/** After so long the page tries again by itself. */
const RETRY_MS = 4_000;
/** Opens a conversation in which this was said, on a page whose requests may fail. */
type Open = (title: string, ...said: string[]) => Promise<string>;
const test = base.extend<{ open: Open }>({
  open: async ({ page, person, skein, watch }, use) => {
    watch.allow(/net::/);
    await page.clock.install();
    await use(async (title, ...said) => {
      const { id } = await person.begin(title);
      for (const text of said) await person.say(id, text);
      await page.goto(`${skein.origin}/c/${id}`);
      await composer(page).waitFor();
      return id;
    });
  },
});
/** The page tries again now. */
const later = (page: Page) => page.clock.fastForward(RETRY_MS);
const away = (page: Page) => answer(page, SAYING, (route) => route.abort());

/** Messages of a conversation on the server, root first. */
async function said(person: Person, id: string): Promise<string[]> {
  const { data } = await person.api.get<{ data: Schemas["NodeView"][] }>(`/conversations/${id}/path`);
  return data.map(({ content }) => String((content as { text?: string } | null)?.text));
}

test("queued messages survive a reload and are sent in order, each once, with one answer", async ({
  page,
  person,
  open,
}) => {
  const id = await open("Away");
  await away(page);
  const hands = new Mouse(page);
  await send(hands, page, "First, there were two herons.");
  await expect(turnWith(page, "First, there were")).toContainText("queued");
  await send(hands, page, "Then, there were four.");
  await expect(turns(page)).toHaveCount(2);
  await page.reload();
  await expect(turns(page)).toHaveCount(2);
  await expect(turnWith(page, "Then, there were")).toContainText("queued");
  await expect(page.getByRole("contentinfo", { name: "Status" })).toContainText("2 unsent");
  await page.unrouteAll({ behavior: "wait" });
  // It is not asked for: the page sends them by itself.
  await later(page);
  await expect(turns(page)).toHaveCount(3);
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
  await expect(page.getByText("queued")).toHaveCount(0);
  const there = await said(person, id);
  expect(there.slice(0, 2)).toEqual(["First, there were two herons.", "Then, there were four."]);
  expect(there).toHaveLength(3);
});

test("a message that arrived although nobody heard of it is there once", async ({ page, person, open }) => {
  const id = await open("Half away");
  let lost = 0;
  await answer(page, SAYING, async (route) => {
    await route.fetch();
    lost += 1;
    await route.abort();
  });
  await send(new Mouse(page), page, "Two herons.");
  await expect(turnWith(page, "Two herons.").getByText("queued", { exact: true })).toBeVisible();
  await later(page);
  await expect.poll(() => lost).toBeGreaterThan(1);
  await page.unrouteAll({ behavior: "wait" });
  await later(page);
  await expect(turns(page)).toHaveCount(2);
  await expect(page.getByText("queued")).toHaveCount(0);
  await page.reload();
  await expect(turns(page)).toHaveCount(2);
  expect((await said(person, id)).filter((text) => text === "Two herons.")).toHaveLength(1);
});

for (const [what, arrives] of [
  ["that arrives after its writer left its branch", false],
  ["whose arrival its writer did not hear of before they left its branch", true],
] as const)
  test(`a message ${what} leaves them where they are`, async ({ page, person, skein, watch }) => {
    // The first response may be lost: the second request has another body.
    watch.allow(/net::/, /status of 409/);
    const { id } = await person.begin("Left");
    const first = await person.say(id, "One heron.");
    await person.edit(first, "Two herons.");
    await page.clock.install();
    await page.goto(`${skein.origin}/c/${id}`);
    await composer(page).waitFor();
    await answer(page, SAYING, async (route) => {
      if (arrives) await route.fetch();
      await route.abort();
    });
    const status = page.getByRole("contentinfo", { name: "Status" });
    await send(new Mouse(page), page, "And then?");
    await expect(status).toContainText("1 unsent");
    const moved = page.waitForResponse(/\/activate$/);
    await turns(page).first().getByRole("button", { name: "Previous alternative" }).click();
    await moved;
    await page.unrouteAll({ behavior: "wait" });
    await later(page);
    await expect(status).not.toContainText("unsent");
    expect(await person.end(id), "the path of the server").toBe(first.id);
    await expect(turns(page)).toHaveText([/One heron\./]);
    await page.reload();
    await expect(turns(page)).toHaveText([/One heron\./]);
    await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
    await expect(turns(page)).toHaveCount(3);
    await expect(turns(page).nth(1)).toContainText("And then?");
  });

test("a queued message is withdrawn into the composer", async ({ page, person, open }) => {
  const id = await open("Taken back", "Is anybody there?");
  await away(page);
  await send(new Mouse(page), page, "Nobody counted.");
  await turnWith(page, "Nobody counted.").getByRole("button", { name: "Withdraw" }).press("Enter");
  await expect(turns(page)).toHaveCount(1);
  await expect(composer(page)).toHaveValue("Nobody counted.");
  await expect(composer(page)).toBeFocused();
  await page.unrouteAll({ behavior: "wait" });
  await page.reload();
  await expect(turns(page)).toHaveCount(1);
  await expect(composer(page)).toHaveValue("Nobody counted.");
  expect(await said(person, id)).toEqual(["Is anybody there?"]);
});

test("a message refused later shows the reason in its place and keeps its text", async ({
  page,
  skein,
  watch,
  open,
}) => {
  watch.allow(/status of 409/);
  await open("Refused later");
  await away(page);
  await send(new Mouse(page), page, "Two herons.");
  await expect(turnWith(page, "Two herons.")).toContainText("queued");
  // The newer one is asked first: nothing is let through between the two.
  const error = { code: "conversation_folded", message: "it was folded meanwhile", details: {} };
  await answer(page, SAYING, (route) => route.fulfill({ status: 409, json: { error } }));
  const turn = turnWith(page, "Two herons.");
  await later(page);
  await expect(turn.getByRole("alert")).toContainText("it was folded meanwhile");
  await page.goto(skein.origin);
  await page.getByRole("status").getByRole("link", { name: "Refused later" }).click();
  await expect(turn.getByRole("alert")).toContainText("it was folded meanwhile");
  await page.unrouteAll({ behavior: "wait" });
  await turn.getByRole("button", { name: "Try again" }).click();
  await expect(turns(page)).toHaveCount(2);
  await expect(page.getByText("it was folded meanwhile")).toHaveCount(0);
});
