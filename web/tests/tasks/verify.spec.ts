import { expect, task } from "../support/test";
import { turns } from "../support/conversation";

task("verify a conversation", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Proof");
  await person.ask(id, "The hide holds six people.");
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(2);

  if (hands.kind === "mouse") {
    await hands.pick(turns(page).last().getByRole("button", { name: "More for this turn" }), /provenance/i);
  } else {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Show the provenance of this text");
    await page.keyboard.press("Enter");
  }
  const pane = page.getByRole("complementary", { name: "Inspector" });
  await expect(pane.getByRole("tab", { name: "Provenance" })).toHaveAttribute("aria-selected", "true");
  await hands.press(pane.getByRole("button", { name: /verify.*(conversation|tree|whole)/i }));
  await expect(pane.getByText(/(Proof|conversation) is unaltered: \d+ messages? verified/)).toBeVisible();
});
