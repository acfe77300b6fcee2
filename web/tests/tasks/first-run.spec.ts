import { expect, test } from "../support/test";
import { Keyboard, Mouse } from "../support/hands";
import { answered, composer, lastTurn, send } from "../support/conversation";

// From the printed link to a first answer, without a key and without a manual.
for (const by of ["mouse", "keyboard"] as const) {
  test(`first run, by ${by}`, async ({ context, newcomer, watch }) => {
    void watch;
    const page = await context.newPage();
    await page.goto(newcomer.link);
    const hands = by === "mouse" ? new Mouse(page) : new Keyboard(page);
    await expect(page.getByRole("heading", { name: /^Welcome/ })).toBeVisible();
    await hands.press(page.getByRole("button", { name: "Ask this" }));
    await expect(page.getByText(/^answered in/)).toBeVisible();
    await hands.press(page.getByRole("button", { name: "Start your own" }));
    await expect(page).toHaveURL(/\/c\//);
    await composer(page).waitFor();
    await send(hands, page, "What can you do?");
    await answered(page, 2);
    await expect(lastTurn(page)).toContainText("offline model");
    await hands.go("Home");
    await expect(page.getByRole("main").getByText("What can you do?").first()).toBeVisible();
  });
}
