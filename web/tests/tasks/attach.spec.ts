import { PIXEL } from "../support/files";
import { composer, lastTurn, turns } from "../support/conversation";
import { expect, task } from "../support/test";

task("attach a picture, leave one out, and send", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  await page.goto(`${skein.origin}/c/${id}`);
  const asked = page.waitForEvent("filechooser");
  await hands.press(page.getByRole("button", { name: "Attach an image or audio" }));
  const files = ["heron.png", "stork.png", "notes.txt"].map((name) => ({
    name,
    mimeType: name.endsWith("png") ? "image/png" : "text/plain",
    buffer: PIXEL,
  }));
  await (await asked).setFiles(files);
  const refused = page.getByRole("alert").filter({ hasText: "notes.txt was not attached." });
  await expect(refused).toContainText("neither an image nor audio");
  await expect(page.getByRole("button", { name: "Send", exact: true })).toBeDisabled();
  await hands.press(refused.getByRole("button", { name: /dismiss/i }));
  await hands.press(page.getByRole("button", { name: "Remove stork.png" }));
  await hands.write(composer(page), "What is this?");
  await hands.press(page.getByRole("button", { name: "Send", exact: true }));
  await expect(turns(page).first()).toContainText("What is this?");
  const picture = turns(page).first().getByRole("img", { name: "heron.png" });
  await expect(picture).toBeVisible();
  await expect(turns(page).first().getByRole("img", { name: "stork.png" })).toHaveCount(0);
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
  await expect(lastTurn(page)).not.toHaveAttribute("aria-busy", "true");
  await expect(page.getByRole("button", { name: /^Remove / })).toHaveCount(0);
});
