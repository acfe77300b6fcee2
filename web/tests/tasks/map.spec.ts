import { Keyboard } from "../support/hands";
import { turnWith } from "../support/conversation";
import { drawn, held } from "../support/held-requests";
import { expect, test } from "../support/test";

test.use({ by: "keyboard" });

test("go about the map by keys", async ({ page, person, skein, hands }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "Two herons.");
  const second = await person.edit(first, "Three herons.");
  const below = await person.say(id, "And the storks?");
  const last = await person.say(id, "Five storks.");
  await page.goto(`${skein.origin}/c/${id}`);
  await (hands as Keyboard).reach(turnWith(page, "Five storks."));
  await page.keyboard.press("m");
  await expect(page).toHaveURL(/\/map/);
  const at = (node: { id: string }) => expect(page).toHaveURL(new RegExp(`at=${node.id}`));
  const map = page.getByRole("application").or(page.locator("canvas")).first();
  await expect(map).toBeVisible();
  await at(last);
  await page.keyboard.press("ArrowLeft");
  await at(below);
  await page.keyboard.press("ArrowLeft");
  await at(second);
  await page.keyboard.press("ArrowUp");
  await at(first);
  await page.keyboard.press("ArrowDown");
  await at(second);
  await page.keyboard.press("ArrowRight");
  await at(below);

  await page.keyboard.press("h");
  await expect(page).toHaveURL(new RegExp(`hoist=${below.id}`));
  await page.keyboard.press("Shift+h");
  await expect(page).not.toHaveURL(/hoist=/);
  await page.keyboard.press("b");
  await expect
    .poll(async () => (await person.api.get<{ bookmarked: boolean }>(`/nodes/${below.id}`)).bookmarked)
    .toBe(true);
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowRight");
  await at(last);
  await page.keyboard.press("Space");
  await expect(page.getByRole("group", { name: "Selected nodes" })).toContainText("2 selected");

  await page.keyboard.press("v");
  const tree = page.getByRole("tree", { name: "Tree of Herons" });
  await expect(tree).toBeVisible();
  const here = tree.locator(":focus");
  await expect(here).toContainText("Five storks.");
  await page.keyboard.press("Home");
  await expect(here).toContainText(/herons/);
  await page.keyboard.press("End");
  await expect(here).toContainText("Five storks.");
  await page.keyboard.press("ArrowLeft");
  await expect(here).toContainText("And the storks?");
  await page.keyboard.press("v");
  await expect(tree).toBeHidden();

  await page.keyboard.press("d");
  await expect(page).toHaveURL(/\/compare\?nodes=/);
  await page.goBack();
  await expect(map).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("Two herons");
  await page.keyboard.press("Enter");
  await at(first);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/c/${id}/n/`));
  await expect(turnWith(page, "Two herons.")).toBeVisible();
});

test("Enter finds what was typed though the words of the tree are still being read", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "Two herons.");
  await person.say(id, "And the storks?");
  const words = await held(page, /\/(path|children)\?/, "GET");
  await page.goto(`${skein.origin}/c/${id}/map`);
  await expect(page.locator("canvas").first()).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("Two herons");
  await expect(page.getByRole("status").filter({ hasText: "Loading…" })).toBeVisible();
  await page.keyboard.press("Enter");
  await drawn(page);
  words.letGo();
  await expect(page).toHaveURL(new RegExp(`at=${first.id}`));
});
