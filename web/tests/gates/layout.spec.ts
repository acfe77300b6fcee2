// Panes stand in each conversation as they stood there last; Home says how the installation is.
import { turns } from "../support/conversation";
import { expect, test } from "../support/test";

test("panes stand as they stood, in each conversation by itself", async ({ page, person, skein }) => {
  await page.setViewportSize({ width: 1800, height: 900 });
  const one = await person.begin("One");
  const first = await person.say(one.id, "On 3 March there were eleven herons.");
  await person.edit(first, "On 3 March there were nine herons.", true);
  const two = await person.begin("Two");
  await person.say(two.id, "Nobody counted.");
  await page.goto(`${skein.origin}/c/${one.id}`);
  await expect(turns(page)).toHaveCount(1);
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  const beside = page.getByRole("complementary", { name: "Another branch" });
  await page.keyboard.press("i");
  await expect(inspector).toBeVisible();
  await page.keyboard.press("s");
  await expect(beside).toContainText("eleven herons");
  // Both borders are moved by arrows.
  for (const [name, pane] of [
    ["Width of the inspector", inspector],
    ["Width of the other branch", beside],
  ] as const) {
    const before = (await pane.boundingBox())?.width ?? 0;
    const border = page.getByRole("separator", { name });
    await border.press("ArrowRight");
    await border.press("ArrowRight");
    await expect
      .poll(async () => Math.round((await pane.boundingBox())?.width ?? 0))
      .toBe(Math.round(before - 48));
  }
  const width = (await inspector.boundingBox())?.width;

  await page.goto(`${skein.origin}/c/${two.id}`);
  await expect(turns(page)).toHaveCount(1);
  await expect(inspector).toHaveCount(0);
  await expect(beside).toHaveCount(0);
  await page.goto(`${skein.origin}/c/${one.id}`);
  await expect(inspector).toBeVisible();
  await expect(beside).toBeVisible();
  expect((await inspector.boundingBox())?.width).toBe(width);
  // An address that says how they are to stand is obeyed.
  await page.goto(`${skein.origin}/c/${one.id}?pane=context`);
  await expect(page.getByRole("tab", { name: "Context" })).toHaveAttribute("aria-selected", "true");
  await expect(beside).toHaveCount(0);
});

test("Home says how server, workers, memory and models are, and what is unread", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(1);
  await page.goto(skein.origin);
  const health = page.getByRole("list", { name: "Health" }).getByRole("listitem");
  await expect(health).toHaveCount(4);
  await expect(health.nth(0)).toContainText("Server connected");
  await expect(health.nth(1)).toContainText(/\d workers?,/);
  await expect(health.nth(2)).toContainText("Memory");
  await expect(health.nth(3)).toContainText("1 of 1 model service reachable");
  await person.say(id, "Then four.");
  await expect(page.getByRole("link", { name: /Herons/ }).filter({ hasText: "1 new" })).toBeVisible();
});
