// What is known later does not move what somebody is about to press, and what is current is in sight on a narrow window.
import type { Locator } from "@playwright/test";
import { Mouse } from "../support/hands";
import { held } from "../support/held";
import { answered, lastTurn, send } from "../support/talk";
import { expect, test } from "../support/told";
import { TOLD } from "../support/told-model";

const boxes = async (...few: Locator[]) => Promise.all(few.map((one) => one.boundingBox()));

for (const width of [1280, 320])
  test(`the arrows of a turn stay where they are when its facts arrive, ${width} px wide`, async ({
    page,
    skein,
    model,
    conversation,
  }) => {
    await page.setViewportSize({ width, height: 700 });
    const makings = await held(page, /\/makings/, "GET");
    await page.goto(`${skein.origin}/c/${conversation}`);
    await send(new Mouse(page), page, "How many herons are there?");
    for (const words of ["Two herons.", "Four herons."]) {
      const saying = await model.asked();
      saying.say(words);
      saying.end();
      await answered(page, 2);
      await expect(lastTurn(page)).toContainText(words);
      if (words === "Two herons.")
        await lastTurn(page)
          .getByRole("button", { name: /Generate/ })
          .click();
    }
    const turn = lastTurn(page);
    const arrows = [
      turn.getByRole("button", { name: "Alternative before" }),
      turn.getByRole("button", { name: "Alternative after" }),
    ];
    await expect(turn.getByRole("link", { name: /tokens/ })).toHaveCount(0);
    const before = await boxes(...arrows);
    makings.letGo();
    await expect(turn.getByRole("link", { name: /tokens/ })).toBeVisible();
    await expect(turn.getByTitle(`The model that answered: ${TOLD}`)).toBeVisible();
    expect(await boxes(...arrows)).toEqual(before);
    // One pointer goes through all of them without being moved.
    await arrows[0]?.click();
    await expect(turn).toContainText("Two herons.");
    expect(await boxes(...arrows)).toEqual(before);
  });

test("what is current is in sight on a narrow window, and so is every entry of the rail", async ({
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
  await expect(keys.getByRole("heading", { name: "Catalogue" })).toHaveCount(0);
  await expect(keys.locator("div").filter({ hasText: /^E\s*Edit/ })).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(turn).toBeFocused();
  await page.keyboard.press("e");
  await expect(page.getByRole("textbox", { name: "Another wording" })).toBeVisible();

  await page.goto(`${skein.origin}/settings/keys`);
  await page.getByRole("switch", { name: /single/i }).click();
  await page.goto(`${skein.origin}/c/${id}`);
  await turn.click();
  await page.keyboard.press("e");
  await turn.getByRole("button", { name: "More for this turn" }).click();
  const menu = page.getByRole("menu", { name: "This turn" });
  await expect(menu.getByRole("menuitem", { name: /^Edit/ })).toBeVisible();
  await expect(menu.locator("kbd").filter({ hasText: /^(Shift )?[^↑↓←→]$/ })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("textbox", { name: "Another wording" })).toHaveCount(0);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("listbox").getByRole("option");
  await expect(palette.filter({ hasText: "Edit" }).first()).toBeVisible();
  await expect(palette.locator("kbd").filter({ hasText: /^(Shift )?[^↑↓←→]$/ })).toHaveCount(0);
});
