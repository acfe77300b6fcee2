// The parts of a conversation as a person finds them.
import { expect, type Locator, type Page } from "@playwright/test";
import type { Hands } from "./hands";

export const composer = (page: Page): Locator => page.getByRole("textbox", { name: "Your message" });
export const turns = (page: Page): Locator => page.getByRole("article");
/** The page hears what happens elsewhere: what a test does there before is not told to it. */
export const listening = (page: Page): Promise<void> =>
  expect(page.getByRole("contentinfo", { name: "Status" })).toContainText("Connected");
export const lastTurn = (page: Page): Locator => turns(page).last();
export const turnWith = (page: Page, text: string | RegExp): Locator => turns(page).filter({ hasText: text });

/** Writes into the composer and sends it; the keyboard sends from within the field. */
export async function send(hands: Hands, page: Page, text: string): Promise<void> {
  await hands.write(composer(page), text);
  if (hands.kind === "keyboard") await page.keyboard.press("Enter");
  else await hands.press(page.getByRole("button", { name: "Send", exact: true }));
  await expect(composer(page)).toHaveValue("");
}

/** Waits until no answer is being made. */
export async function answered(page: Page, count: number): Promise<void> {
  await expect(turns(page)).toHaveCount(count);
  await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
}
