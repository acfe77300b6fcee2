// Folding takes the path on the screen, wherever the path of the server ends.
import type { Page } from "@playwright/test";
import { composer, turns } from "../support/conversation";
import { ask, editTurn, expect, nodeAt, settled, shownTexts, test } from "../support/recorded-conversation";

const open = async (page: Page) => {
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.insertText("Fold this conversation");
  await page.keyboard.press("Enter");
};
const foldTo = async (page: Page, summary: string) => {
  await page.getByRole("textbox", { name: "Summary" }).fill(summary);
  await page.getByRole("button", { name: "Fold", exact: true }).click();
};
/** Goes on in a new conversation; gives back what it shows. */
const onward = async (page: Page): Promise<string[]> => {
  const at = page.url();
  await page.getByRole("button", { name: "Continue in a new conversation" }).click();
  await page.waitForURL((url) => url.href !== at);
  await page.getByRole("region", { name: "Before the fork" }).waitFor();
  await settled(page);
  return shownTexts(page);
};

test("a link to another version folds what it shows", async ({ page, skein, model, begin }) => {
  const id = await begin("Linked");
  await ask(page, model, "First.");
  const first = await nodeAt(page, 1);
  await editTurn(page, "First.", "First, better.");
  await page.getByRole("button", { name: "Answer this version" }).click();
  await model.request(1);
  await settled(page);
  await page.goto(`${skein.origin}/c/${id}/n/${first}`);
  await composer(page).waitFor();
  await settled(page);
  expect(await shownTexts(page)).toEqual(["First.", "Answer 1"]);
  await open(page);
  await foldTo(page, "One.");
  expect(await onward(page)).toEqual(["First.", "Answer 1"]);
  expect(await ask(page, model, "Second.")).toEqual(["First.", "Answer 1", "Second."]);
});

test("answers to another version are folded with the version that is chosen", async ({
  page,
  model,
  begin,
}) => {
  for (const [version, expected] of [
    ["Version 1, with its answers", ["First.", "Answer 1", "Second.", "Answer 2"]],
    ["Version 2, without an answer", ["First, better."]],
  ] as const) {
    await begin("Stale");
    const number = model.requests.length;
    await ask(page, model, "First.");
    await ask(page, model, "Second.");
    await editTurn(page, "First.", "First, better.");
    await open(page);
    await expect(page.getByRole("textbox", { name: "Summary" })).toBeHidden();
    await page.getByRole("button", { name: version }).click();
    await foldTo(page, "One.");
    const shown = await onward(page);
    const isAnswer = /^Answer (\d+)$/;
    expect(shown.map((text) => text.replace(isAnswer, (_, nth) => `Answer ${Number(nth) - number}`))).toEqual(
      expected,
    );
    expect(await ask(page, model, "Third.")).toEqual([...shown, "Third."]);
  }
});

test("after going back, the fold ends there, and the suggested summary too", async ({
  page,
  model,
  begin,
}) => {
  await begin("Rewound");
  await ask(page, model, "First herons.");
  await ask(page, model, "Second cranes.");
  await turns(page).nth(1).getByRole("button", { name: "More for this turn" }).click();
  const kept = page.waitForResponse(/\/activate$/);
  await page.getByRole("menuitem", { name: /^Rewind to here/ }).click();
  await kept;
  await expect(turns(page)).toHaveCount(2);
  await open(page);
  await page.getByRole("button", { name: "Suggest a summary" }).click();
  const summary = page.getByRole("textbox", { name: "Summary" });
  await expect(summary).toHaveValue(/herons/);
  expect(await summary.inputValue()).not.toContain("cranes");
  await foldTo(page, "One.");
  expect(await onward(page)).toEqual(["First herons.", "Answer 1"]);
});
