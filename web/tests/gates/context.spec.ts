// What a model is told: what is pinned stays when others have to go.
import { expect, test } from "../support/test";

test("a part is pinned, stays, and is let go again", async ({ page, person, skein }) => {
  const { id } = await person.begin("Long");
  await person.say(id, "The first thing that was said.");
  const rule = await person.say(id, "Herons are counted at dusk.");
  let last = rule;
  for (let turn = 0; turn < 6; turn++) last = await person.say(id, "heron ".repeat(300));
  await page.goto(`${skein.origin}/c/${id}?pane=context&of=${last.id}`);
  const pane = page.getByRole("tabpanel", { name: "Context" });
  await pane.getByRole("spinbutton", { name: "Budget in tokens" }).fill("3072");
  const part = pane.getByRole("listitem").filter({ hasText: "Herons are counted at dusk." });
  await expect(part).toContainText("Left out: no room for it");
  await part.getByRole("button", { name: "Pin: keep it when others have to go" }).press("Enter");
  await expect(part).toContainText("pinned: it stays when others have to go");
  await expect(part).not.toContainText("Left out");
  await part.getByRole("button", { name: "Unpin" }).press("Enter");
  await expect(part).toContainText("Left out: no room for it");
});
