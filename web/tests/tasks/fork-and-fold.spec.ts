import { expect, task } from "../support/test";
import { answered, composer, lastTurn, send, turns } from "../support/conversation";

task("fork a conversation and fold the fork", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Lake survey");
  await person.ask(id, "Two of the birds counted on 10 March were cranes.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(2);

  if (hands.kind === "mouse") {
    await hands.pick(turns(page).last().getByRole("button", { name: "More for this turn" }), /^Fork/);
  } else {
    await page.keyboard.press("f");
  }
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(page).toHaveURL(/\/c\//);
  await expect(page.getByRole("link", { name: /forked from/ })).toBeVisible();
  await expect(page.getByText("Two of the birds counted on 10 March were cranes.").first()).toBeVisible();
  await composer(page).waitFor();
  await send(hands, page, "How many birds were cranes?");
  await expect(lastTurn(page)).toContainText(/two/i);
  // Nothing is folded in which something is being said.
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);

  if (hands.kind === "mouse") {
    await hands.pick(page.getByRole("button", { name: "More for this conversation" }), /^Fold/);
  } else {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Fold this conversation");
    await page.keyboard.press("Enter");
  }
  const sheet = page.getByRole("dialog", { name: "Fold into a summary" });
  await hands.write(sheet.getByRole("textbox", { name: "Summary" }), "Two were cranes.");
  await hands.press(sheet.getByRole("button", { name: "Fold", exact: true }));
  await expect(page.getByText("This conversation was folded into a summary.")).toBeVisible();
  await expect(page.getByText("Two were cranes.").first()).toBeVisible();
  await hands.press(page.getByRole("button", { name: "Continue in a new conversation" }));
  await composer(page).waitFor();
  await send(hands, page, "And how many were herons?");
  await answered(page, 2);
});
