// An administrator looks at somebody else's things by a grant: on the page, reading only, and until it ends.
import { composer, turnWith } from "../support/talk";
import { expect, newcomer, test } from "../support/test";

test("somebody's conversation is read by a grant, and nothing is changed", async ({
  page,
  person,
  skein,
  watch,
}) => {
  // A grant that was ended is refused.
  watch.allow(/status of 403/);
  const { person: anna } = await newcomer(skein, "Anna");
  const { id } = await anna.begin("A lost note");
  const said = await anna.say(id, "The key is under the third stone.");
  await anna.edit(said, "The key is under the second stone.");
  await person.begin("My own things");

  await page.goto(`${skein.origin}/settings/users`);
  await page.getByRole("button", { name: "Look at the things of Anna" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("ticket 42");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("Anna asked me to look for a lost note");
  await dialog.getByRole("button", { name: "Give the grant" }).click();
  await dialog.getByRole("button", { name: "Look now" }).click();

  const banner = page.getByRole("region", { name: "Looking" });
  await expect(banner).toContainText("Anna");
  await expect(page.getByRole("main")).not.toContainText("My own things");
  await page.getByRole("main").getByRole("link", { name: "A lost note" }).click();
  await expect(turnWith(page, "under the second stone")).toBeVisible();
  await expect(composer(page)).toHaveCount(0);
  await expect(page.getByText("You read what Anna keeps")).toBeVisible();
  // Whoever looks may turn the page; where Anna stands stays hers.
  await page.getByRole("button", { name: "Alternative before" }).click();
  await expect(turnWith(page, "under the third stone")).toBeVisible();
  await page.getByRole("article").first().focus();
  await page.keyboard.press("b");
  await expect(page.getByText("you can read them, and change nothing")).toBeVisible();
  expect(await anna.end(id)).not.toBe(said.id);
  await page.goto(`${skein.origin}/search?q=stone`);
  await expect(page.getByRole("main").getByRole("link", { name: /second stone/ })).toBeVisible();

  // Anna ends it: the tab is its owner's again.
  const { data } = await anna.api.get<{ data: { id: string }[] }>("/grants");
  await anna.api.delete(`/grants/${data[0]?.id}`);
  // The page leaves by itself as soon as it asks for something: what is loaded first is broken off.
  await page.goto(`${skein.origin}/conversations`, { waitUntil: "commit" });
  await expect(page.getByRole("heading", { name: "Who may look at your things" })).toBeVisible();
  await expect(banner).toHaveCount(0);
  await page.goto(`${skein.origin}/conversations`);
  await expect(page.getByRole("main").getByRole("link", { name: "My own things" })).toBeVisible();
});
