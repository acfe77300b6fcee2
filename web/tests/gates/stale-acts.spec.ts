// Below an edited question stand answers to its first version. Every act there sends what stands on the screen, or asks which
// version is meant.
import type { Page } from "@playwright/test";
import { composer, turns } from "../support/conversation";
import type { RecordingModel } from "../support/recording-model";
import {
  answeredBy,
  ask,
  editTurn,
  expect,
  saveEdit,
  settled,
  shownTexts,
  test,
} from "../support/recorded-conversation";

const TAIL = ["First, better.", "Answer 1", "Second.", "Answer 2"];
const asked = (page: Page, name: RegExp | string) =>
  page.getByRole("region", { name: "Message box" }).getByRole("button", { name });
const more = async (page: Page, index: number, item: RegExp) => {
  await turns(page).nth(index).getByRole("button", { name: "More for this turn" }).click();
  await page.getByRole("menuitem", { name: item }).click();
};
/** Two questions with answers; then the first is edited. */
const begun = async (page: Page, model: RecordingModel) => {
  await ask(page, model, "First.");
  await ask(page, model, "Second.");
  await editTurn(page, "First.", "First, better.");
  expect(await shownTexts(page)).toEqual(TAIL);
};
/** Chooses the version that has the answers, and gives back what the model is sent. */
const chosen = async (page: Page, model: RecordingModel): Promise<string[]> => {
  const number = model.requests.length;
  await asked(page, "Version 1, with its answers").click();
  return answeredBy(page, model, number);
};

test("several answers in the place of a stale one reply to the question on the screen", async ({
  page,
  model,
  begin,
}) => {
  await begin("Several");
  await begun(page, model);
  const number = model.requests.length;
  await more(page, 1, /^Generate several answers/);
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  await sheet.getByRole("spinbutton").fill("2");
  await sheet.getByRole("button", { name: "Generate 2 answers" }).click();
  for (const nth of [0, 1]) expect((await model.request(number + nth)).texts).toEqual(["First, better."]);
  await expect(sheet).toBeHidden();
  await settled(page);
  expect((await shownTexts(page))[0]).toBe("First, better.");
});

test("generating and editing below a stale answer ask for the version, which then stands on the screen", async ({
  page,
  model,
  begin,
}) => {
  await begin("Below");
  await begun(page, model);
  const before = model.requests.length;
  for (const index of [2, 3]) {
    await turns(page).nth(index).getByRole("button", { name: "Generate another answer" }).click();
    await expect(asked(page, "Version 1, with its answers")).toBeVisible();
    await asked(page, "Cancel").click();
  }
  await more(page, 3, /^Generate several answers/);
  await expect(page.getByRole("dialog", { name: "Generate answers" })).toBeHidden();
  await asked(page, "Cancel").click();
  expect(model.requests.length, "nothing is asked for before the choice").toBe(before);
  expect(await shownTexts(page)).toEqual(TAIL);
  await turns(page).nth(3).getByRole("button", { name: "Generate another answer" }).click();
  expect(await chosen(page, model)).toEqual(["First.", "Answer 1", "Second."]);
  expect(await shownTexts(page)).toEqual(["First.", "Answer 1", "Second.", "Answer 3"]);

  await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
  await expect(turns(page).first()).toContainText("First, better.");
  await turns(page).nth(2).getByRole("button", { name: "Edit as a new version" }).click();
  await expect(page.getByRole("textbox", { name: "New version" })).toBeHidden();
  await asked(page, "Version 1, with its answers").click();
  await expect(turns(page).first()).toContainText("First.");
  await saveEdit(page, "Second, better.");
  expect((await shownTexts(page)).slice(0, 3)).toEqual(["First.", "Answer 1", "Second, better."]);
});

test("the other answer to the question below a stale one is to regenerate all of them", async ({
  page,
  model,
  begin,
}) => {
  await begin("Anew");
  await begun(page, model);
  await turns(page).nth(3).getByRole("button", { name: "Generate another answer" }).click();
  await asked(page, "Regenerate below…").click();
  await expect(page.getByRole("dialog", { name: "Regenerate below" })).toContainText("2 answers");
});

test("forking at a stale answer or below it asks for the version", async ({ page, model, begin }) => {
  await begin("Fork");
  await begun(page, model);
  const at = page.url();
  const forkAt = async (index: number, version: string) => {
    await turns(page).nth(index).focus();
    await page.keyboard.press("f");
    await asked(page, version).click();
    await page.waitForURL((url) => url.href !== at);
    await page.getByRole("region", { name: "Before the fork" }).waitFor();
    await settled(page);
    const shown = await shownTexts(page);
    expect(await ask(page, model, "Third.")).toEqual([...shown, "Third."]);
    await page.goto(at);
    await composer(page).waitFor();
    await settled(page);
    return shown;
  };
  expect(await forkAt(1, "Version 1, with its answers")).toEqual(["First.", "Answer 1"]);
  expect(await forkAt(3, "Version 2, without an answer")).toEqual(["First, better."]);
  expect(await forkAt(3, "Version 1, with its answers")).toEqual([
    "First.",
    "Answer 1",
    "Second.",
    "Answer 2",
  ]);
});

test("rewinding to a turn below another version asks for the version", async ({ page, model, begin }) => {
  await begin("Rewind");
  await begun(page, model);
  const rewind = async () => {
    await turns(page).nth(2).focus();
    await page.keyboard.press("r");
    await expect(asked(page, "Version 1, with its answers")).toBeVisible();
    expect(await shownTexts(page), "nothing is done before the choice").toEqual(TAIL);
  };
  await rewind();
  await asked(page, "Cancel").click();
  expect(await shownTexts(page)).toEqual(TAIL);

  await rewind();
  await asked(page, "Version 2, without an answer").click();
  await expect(page.getByRole("note").filter({ hasText: "3 later turns are kept" })).toBeVisible();
  expect(await shownTexts(page)).toEqual(["First, better."]);
  await page.getByRole("button", { name: "Show later turns" }).click();

  await rewind();
  await asked(page, "Version 1, with its answers").click();
  await expect(page.getByRole("note").filter({ hasText: "1 later turn is kept" })).toBeVisible();
  expect(await shownTexts(page)).toEqual(["First.", "Answer 1", "Second."]);
  expect(await ask(page, model, "Third.")).toEqual(["First.", "Answer 1", "Second.", "Third."]);
});

test("a failed answer is not offered to another version, and one below it is asked for", async ({
  page,
  model,
  begin,
  watch,
}) => {
  watch.allow(/status of/);
  await begin("Failed");
  model.fails = true;
  await composer(page).fill("First.");
  await composer(page).press("Enter");
  await expect(page.getByText("The model did not answer.")).toBeVisible();
  model.fails = false;
  await editTurn(page, "First.", "First, better.");
  expect(await shownTexts(page)).toEqual(["First, better."]);
  expect(await ask(page, model, "Second.")).toEqual(["First, better.", "Second."]);

  // An answer that fails below answers that are stale later.
  model.fails = true;
  await composer(page).fill("Third.");
  await composer(page).press("Enter");
  await expect(page.getByText("The model did not answer.")).toBeVisible();
  model.fails = false;
  await editTurn(page, "Second.", "Second, better.");
  await page.getByRole("article").last().getByRole("button", { name: "Regenerate", exact: true }).click();
  const third = await chosen(page, model);
  expect(third.slice(0, 2)).toEqual(["First, better.", "Second."]);
  expect(third.at(-1)).toBe("Third.");
  expect((await shownTexts(page)).slice(0, third.length)).toEqual(third);
});
