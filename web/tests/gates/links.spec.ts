// Links lead where they say, from wherever they are followed; what comes late leads nobody away.
import { turns, turnWith } from "../support/conversation";
import { expect, test } from "../support/test";

test("a link to a turn leads there from within its conversation, and Back leads back", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  const eleven = await person.say(id, "On 3 March there were eleven herons.");
  for (let day = 4; day < 30; day++) await person.say(id, `On ${day} March nobody counted.\n\n`.repeat(4));
  const nine = await person.edit(eleven, "On 3 March there were nine herons.", false);
  const tens = await person.say(id, "In April there were ten herons.");
  await page.goto(`${skein.origin}/c/${id}/n/${eleven.localId}`);
  await expect(turnWith(page, "eleven herons")).toBeInViewport();

  // From the inspector, whose pane stays.
  await page.keyboard.press("i");
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await page.evaluate((to) => history.pushState(null, "", to), `?pane=node&of=${tens.id}`);
  await page.evaluate(() => dispatchEvent(new PopStateEvent("popstate")));
  await expect(inspector).toContainText("In April");
  await inspector.getByRole("link", { name: "Open" }).click();
  await expect(turnWith(page, "In April there were ten")).toBeFocused();
  await expect(turnWith(page, "In April there were ten")).toBeInViewport();
  await expect(inspector).toBeVisible();

  // Once more, though the address is the same.
  await page.getByRole("log").evaluate((log) => (log.scrollTop = 0));
  await expect(turnWith(page, "In April there were ten")).not.toBeInViewport();
  await inspector.getByRole("link", { name: "Open" }).click();
  await expect(turnWith(page, "In April there were ten")).toBeInViewport();

  // From what was done: another branch, by its short name.
  await person.mark(nine, { bookmarked: true });
  await page.keyboard.press("Shift+U");
  await page
    .getByRole("dialog", { name: "Action history" })
    .getByRole("link", { name: /nine herons/ })
    .click();
  await expect(turnWith(page, "nine herons")).toBeFocused();
  await expect(page.getByRole("article")).toHaveCount(1);

  await page.goBack();
  await expect(turnWith(page, "In April there were ten")).toBeInViewport();
  await page.goForward();
  await expect(turnWith(page, "nine herons")).toBeInViewport();
});

test("a link copied with L works in every link field, also across conversations", async ({
  page,
  person,
  skein,
}) => {
  // As over plain http: the browser gives the page no clipboard of its own.
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  const there = await person.begin("Storks");
  await person.say(there.id, "A stork on the roof.");
  const { id } = await person.begin("Herons");
  const heron = await person.say(id, "A heron in the water.");
  await page.goto(`${skein.origin}/c/${there.id}`);
  await turns(page).first().click();
  await page.keyboard.press("l");
  await expect(page.getByRole("status").filter({ hasText: "Link copied" })).toHaveCount(1);

  await page.goto(`${skein.origin}/c/${id}`);
  await turns(page).first().click();
  await page.getByRole("button", { name: "More for this turn" }).click();
  await page.getByRole("menuitem", { name: /Links to other turns/ }).click();
  const sheet = page.getByRole("dialog", { name: "Links of this turn" });
  await sheet.getByRole("textbox").press("Control+v");
  await expect(sheet.getByRole("textbox")).toHaveValue(new RegExp(`/c/${there.id}/n/(?!item_)`));
  const link = await sheet.getByRole("textbox").inputValue();
  await sheet.getByRole("button", { name: "Link", exact: true }).click();
  await sheet.getByRole("link", { name: "A stork on the roof." }).click();
  await expect(page).toHaveURL(new RegExp(`/c/${there.id}/n/`));
  await expect(turns(page).first()).toContainText("A stork on the roof.");
  await expect(sheet).toHaveCount(0);

  await page.goto(`${skein.origin}/compare?nodes=${heron.id}`);
  await page.getByRole("textbox", { name: "A node by id or link" }).fill(link);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("region", { name: /^2: / })).toContainText("stork on");
});
