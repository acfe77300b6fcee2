// Late data does not move controls under the pointer, and current entries are in sight on a narrow window.
import type { Locator, Page } from "@playwright/test";
import { Mouse } from "../support/hands";
import { drawn, held } from "../support/held-requests";
import { answered, lastTurn, send, turnWith } from "../support/conversation";
import { expect, test } from "../support/scripted-conversation";
import { TOLD } from "../support/scripted-model";

/** Position of a text on the screen. */
const topOf = (words: Locator) => words.evaluate((element) => element.getBoundingClientRect().top);
const reasoning = (page: Page) => lastTurn(page).locator("summary", { hasText: "Reasoning" });
const LINE = "At dawn they stand in the shallow water and wait for the fish to come nearer.\n\n";
const STILL_PX = 2;

const boxes = async (...few: Locator[]) => Promise.all(few.map((one) => one.boundingBox()));

for (const width of [1280, 320])
  test(`the arrows of a turn stay where they are when its facts arrive, ${width} px wide`, async ({
    page,
    skein,
    model,
    conversation,
  }) => {
    await page.setViewportSize({ width, height: 700 });
    const makings = await held(page, /\/generations/, "GET");
    await page.goto(`${skein.origin}/c/${conversation}`);
    await send(new Mouse(page), page, "How many herons are there?");
    for (const words of ["Two herons.", "Four herons."]) {
      const saying = await model.asked();
      saying.say(words);
      saying.end();
      await expect(lastTurn(page)).toContainText(words);
      await answered(page, 2);
      if (words === "Two herons.")
        await lastTurn(page)
          .getByRole("button", { name: /Generate/ })
          .click();
    }
    const turn = lastTurn(page);
    const arrows = [
      turn.getByRole("button", { name: "Previous alternative" }),
      turn.getByRole("button", { name: "Next alternative" }),
    ];
    await expect(turn.getByRole("link", { name: /tokens/ })).toHaveCount(0);
    await drawn(page);
    const before = await boxes(...arrows);
    makings.letGo();
    await expect(turn.getByRole("link", { name: /tokens/ })).toBeVisible();
    await expect(turn.getByTitle(`Model: ${TOLD}`)).toBeVisible();
    await drawn(page);
    expect(await boxes(...arrows)).toEqual(before);
    // One pointer goes through all of them without being moved.
    await arrows[0]?.click();
    await expect(turn).toContainText("Two herons.");
    await drawn(page);
    expect(await boxes(...arrows)).toEqual(before);
  });

test("the reading position inside an answer stays while it grows and when it ends", async ({
  page,
  skein,
  model,
  conversation,
  watch,
}) => {
  const makings = await held(page, /\/generations/, "GET");
  await page.goto(`${skein.origin}/c/${conversation}`);
  await send(new Mouse(page), page, "How many herons are there?");
  const saying = await model.asked();
  saying.think("Many. ");
  for (let at = 1; at <= 60; at++) saying.say(`Heron ${at}. ${LINE}`);
  const words = lastTurn(page).getByText("Heron 30.");
  await expect(lastTurn(page)).toContainText("Heron 60.");
  await page.getByRole("log").evaluate((log) => log.scrollTo(0, (log.scrollHeight - log.clientHeight) / 2));
  await expect(words).toBeInViewport();
  await drawn(page);
  const before = await topOf(words);
  const moved = async () => Math.abs((await topOf(words)) - before);
  for (let at = 61; at <= 90; at++) {
    saying.say(`Heron ${at}. ${LINE}`);
    if (at % 10 > 0) continue;
    await expect(lastTurn(page)).toContainText(`Heron ${at}.`);
    await drawn(page);
    expect(await moved(), `after heron ${at}`).toBeLessThanOrEqual(STILL_PX);
  }
  saying.end();
  await answered(page, 2);
  await makings.made;
  makings.letGo();
  await expect(reasoning(page)).toBeAttached();
  // The reasoning is fetched when it is unfolded.
  await watch.settled(page, { showsLoading: true });
  expect(await moved(), "at its end").toBeLessThanOrEqual(STILL_PX);
});

test("the reading position further up stays while rows above change height and an answer below grows", async ({
  page,
  skein,
  person,
  model,
  conversation,
  watch,
}) => {
  for (let at = 1; at <= 12; at++) await person.say(conversation, `Stork ${at}. ${LINE.repeat(6)}`);
  await page.goto(`${skein.origin}/c/${conversation}`);
  await send(new Mouse(page), page, "How many herons are there?");
  const saying = await model.asked();
  saying.say("Some. ");
  await expect(lastTurn(page)).toContainText("Some.");
  const log = page.getByRole("log");
  const words = page.getByRole("article").getByText("Stork 8.");
  await words.scrollIntoViewIfNeeded();
  await log.evaluate((log) => log.scrollBy(0, 40));
  // The rows around have loaded.
  await watch.settled(page, { showsLoading: true });
  await drawn(page);
  const before = await topOf(words);
  const moved = async () => Math.abs((await topOf(words)) - before);
  for (let at = 1; at <= 5; at++) {
    saying.say(`Heron ${at}. ${LINE.repeat(10)}`);
    // A row above the view gets another height, as when a picture or a remark arrives in it.
    await page.evaluate((height) => {
      const edge = document.querySelector("[role=log]")?.getBoundingClientRect().top ?? 0;
      const above = [...document.querySelectorAll<HTMLElement>("[role=log] article")].filter(
        (article) => article.getBoundingClientRect().bottom < edge,
      );
      above.at(-1)?.style.setProperty("padding-bottom", `${height}px`);
    }, at * 37);
    await drawn(page);
    await drawn(page);
    expect(await moved(), `after ${at}`).toBeLessThanOrEqual(STILL_PX);
  }
  saying.end();
});

test("a view at the end stays there while rows shrink and grow, until a person scrolls up", async ({
  page,
  skein,
  person,
  watch,
}) => {
  const { id } = await person.begin("Storks");
  for (let at = 1; at <= 12; at++) await person.say(id, `Stork ${at}. ${LINE.repeat(6)}`);
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turnWith(page, "Stork 12.")).toBeInViewport();
  await watch.settled(page);
  const log = page.getByRole("log");
  const left = () => log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  const grown = async (height: number) => {
    await lastTurn(page).evaluate((turn, to) => void (turn.style.paddingBottom = `${to}px`), height);
    await drawn(page);
    await drawn(page);
  };
  await grown(400);
  expect(await left()).toBeLessThan(STILL_PX);
  /** Changes a row and, as soon as the list has followed, before it is told that it scrolled, does something else. */
  const changed = (from: number, then: { grow?: number; up?: number }) =>
    lastTurn(page).evaluate(
      async (turn, { from, grow, up }) => {
        turn.style.paddingBottom = `${from}px`;
        await new Promise(requestAnimationFrame);
        await new Promise((after) => setTimeout(after));
        if (grow) turn.style.paddingBottom = `${grow}px`;
        if (up) turn.closest("[role=log]")?.scrollBy(0, -up);
      },
      { from, ...then },
    );
  await changed(0, { grow: 300 });
  await expect.poll(left).toBeLessThan(STILL_PX);
  await expect(page.getByRole("button", { name: "Jump to the end" })).toHaveCount(0);

  await changed(2_000, { up: 500 });
  await expect(page.getByRole("button", { name: "Jump to the end" })).toBeVisible();
  await grown(2_400);
  expect(await left()).toBeGreaterThan(800);
});

test("current entries and all entries of the rail are in sight on a narrow window", async ({
  told,
  skein,
  story,
}) => {
  await told.setViewportSize({ width: 320, height: 640 });
  const whole = { ratio: 0.99 };
  await told.goto(`${skein.origin}/settings/installation`);
  await expect(
    told.getByRole("navigation", { name: "Settings" }).locator("[aria-current=page]"),
  ).toBeInViewport(whole);
  for (const entry of await told.getByRole("navigation", { name: "Main" }).getByRole("link").all()) {
    if (await entry.isVisible()) await expect(entry).toBeInViewport(whole);
  }
  await told.goto(`${skein.origin}/runs/${story.failed}?view=checkpoints`);
  await expect(told.getByRole("tab", { name: "Checkpoints" })).toBeInViewport(whole);
  await told.goto(`${skein.origin}/c/${story.survey}?pane=diff&of=${story.edited.id}`);
  await expect(told.getByRole("tab", { name: "Diff" })).toBeInViewport(whole);
});

test("the keys that are shown are those that act here, and single letters only while they do", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Keys");
  await person.say(id, "Two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = page.getByRole("article").first();
  await turn.click();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys.getByRole("heading", { name: "Conversation" })).toBeVisible();
  await expect(keys.getByRole("heading", { name: "Catalog" })).toHaveCount(0);
  await expect(keys.locator("div").filter({ hasText: /^E\s*Edit/ })).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(turn).toBeFocused();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "New version" })).toBeVisible();

  await page.goto(`${skein.origin}/settings/keys`);
  await page.getByRole("switch", { name: /single/i }).click();
  await page.goto(`${skein.origin}/c/${id}`);
  await turn.click();
  await page.keyboard.press("e");
  await turn.getByRole("button", { name: "More for this turn" }).click();
  const menu = page.getByRole("menu", { name: "This turn" });
  await expect(menu.getByRole("menuitem", { name: /^Edit as/ })).toBeVisible();
  await expect(menu.locator("kbd").filter({ hasText: /^(Shift )?[^↑↓←→]$/ })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("textbox", { name: "New version" })).toHaveCount(0);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("listbox").getByRole("option");
  await expect(palette.filter({ hasText: "Edit" }).first()).toBeVisible();
  await expect(palette.locator("kbd").filter({ hasText: /^(Shift )?[^↑↓←→]$/ })).toHaveCount(0);
});
