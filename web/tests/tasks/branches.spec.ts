import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { send, turns, turnWith } from "../support/conversation";
import { expect, task, test } from "../support/test";

task("see all branches, jump to one, and mark the main branch", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "On 3 March there were eleven herons.");
  await person.say(id, "Nobody counted on 4 March.");
  await person.edit(first, "On 3 March there were nine herons.", true);
  await person.say(id, "On 5 March there were two.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(2);

  await hands.act(page.getByRole("button", { name: "Branches" }), "w");
  const sheet = page.getByRole("dialog", { name: "Branches of this conversation" });
  const lines = sheet.getByRole("list", { name: "Branches" }).getByRole("button");
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText("nine herons");
  await expect(lines.first()).toContainText("current");
  await expect(lines.first()).toBeFocused();
  await expect(lines.nth(1)).toContainText("from the beginning, 2 turns");
  await expectAccessible(page, "branches");
  await expectAccessibleInDark(page, "branches");
  if (hands.kind === "mouse") await lines.nth(1).click();
  else {
    await page.keyboard.press("ArrowDown");
    await expect(lines.nth(1)).toBeFocused();
    await page.keyboard.press("Enter");
  }
  await expect(turns(page)).toHaveCount(2);
  await expect(turnWith(page, "eleven herons")).toBeFocused();
  await expect(turnWith(page, "Nobody counted on 4 March.")).toHaveCount(1);

  if (hands.kind === "mouse")
    await hands.pick(page.getByRole("button", { name: "More for this conversation" }), /main branch/);
  else await page.keyboard.press("*");
  const star = page.getByRole("button", { name: "Main branch: remove the mark" });
  await expect(star).toBeVisible();
  await page.reload();
  await expect(star).toBeVisible();
  await hands.act(page.getByRole("button", { name: "Branches" }), "w");
  await expect(lines.filter({ hasText: "main branch" })).toHaveCount(1);
  await expect(lines.first()).toContainText("main branch");
  // It is one path: another one takes the star over.
  if (hands.kind === "mouse") await lines.nth(1).click();
  else {
    await expect(lines.first()).toBeFocused();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
  }
  await expect(turnWith(page, "nine herons")).toBeFocused();
  await expect(star).toHaveCount(0);
  await page.keyboard.press("*");
  await expect(star).toBeVisible();
  await expect
    .poll(async () => (await person.api.get<{ data: unknown[] }>("/nodes?tag=canonical")).data.length)
    .toBe(1);
  await page.keyboard.press("*");
  await expect(star).toHaveCount(0);
});

task("go back to an earlier turn and go on from there", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.ask(id, "On 3 March there were eleven herons.");
  await person.say(id, "Nobody counted on 4 March.");
  await person.say(id, "On 5 March there were two.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(4);
  if (hands.kind === "mouse")
    await hands.pick(
      turns(page).nth(1).getByRole("button", { name: "More for this turn" }),
      /^Rewind to here/,
    );
  else {
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await expect(turns(page).nth(1)).toBeFocused();
    await page.keyboard.press("r");
  }
  await expect(turns(page)).toHaveCount(2);
  const note = page.getByRole("note").filter({ hasText: "You rewound to here." });
  await expect(note).toContainText("2 later turns are kept");
  await expectAccessible(page, "gone back");
  await page.reload();
  await expect(note).toBeVisible();

  await send(hands, page, "And on 6 March?");
  await expect(note).toHaveCount(0);
  await expect(turnWith(page, "And on 6 March?")).toHaveCount(1);
  await expect(turnWith(page, "Nobody counted on 4 March.")).toHaveCount(0);
  await expect(turns(page)).toHaveCount(4);
  // Nothing was lost: what was said before is the other alternative.
  await hands.press(turns(page).nth(2).getByRole("button", { name: "Previous alternative" }));
  await expect(turnWith(page, "On 5 March there were two.")).toHaveCount(1);
});

test("the link to a path shows that path", async ({ page, context, person, skein }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "On 3 March there were eleven herons.");
  const second = await person.say(id, "Nobody counted on 4 March.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(2);
  await page.keyboard.press("Shift+L");
  const link = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(link).toBe(`${skein.origin}/c/${id}/n/${second.localId}`);
  await person.edit(first, "On 3 March there were nine herons.", true);
  await page.goto(await link());
  await expect(turnWith(page, "eleven herons")).toHaveCount(1);
  await expect(turnWith(page, "Nobody counted on 4 March.")).toHaveCount(1);
});
