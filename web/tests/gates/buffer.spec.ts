// A buffer conversation: versions of a turn share what follows, and the model gets the versions on the screen.
import { composer, turns } from "../support/conversation";
import {
  ask,
  editTurn,
  expect,
  nodeAt,
  previous,
  serverPath,
  settled,
  shownLines,
  shownTexts,
  test,
} from "../support/recorded-conversation";

test("a version is selected with the turns that follow it, and nothing is stale", async ({
  page,
  model,
  begin,
}) => {
  const id = await begin("A buffer", { mode: "buffer" });
  await ask(page, model, "One. ");
  await ask(page, model, "Two. ");
  await editTurn(page, "One.", "First. ");
  const whole = ["First.", "Answer 1", "Two.", "Answer 2"];
  for (const isReloaded of [false, true]) {
    if (isReloaded) {
      await page.reload();
      await composer(page).waitFor();
      await settled(page);
    }
    expect(await shownTexts(page)).toEqual(whole);
    expect((await shownLines(page)).some(({ isStale }) => isStale)).toBe(false);
  }

  const kept = page.waitForResponse(/\/activate$/);
  await previous(turns(page).first()).click();
  await kept;
  expect(await shownTexts(page)).toEqual(["One.", ...whole.slice(1)]);
  const sent = await ask(page, model, "Three. ");
  expect(sent.join("")).toBe("One. Answer 1Two. Answer 2Three. ");
  expect(await shownTexts(page)).toEqual(["One.", "Answer 1", "Two.", "Answer 2", "Three.", "Answer 3"]);
  await page.reload();
  await composer(page).waitFor();
  await settled(page);
  expect(await shownTexts(page)).toEqual(["One.", "Answer 1", "Two.", "Answer 2", "Three.", "Answer 3"]);
  expect((await serverPath(page, id)).map((text) => text.trim())).toEqual(await shownTexts(page));
});

test("a link to another version, going back to it and undoing show and send the same", async ({
  page,
  skein,
  model,
  begin,
}) => {
  const id = await begin("Linked", { mode: "buffer" });
  await ask(page, model, "One. ");
  const first = await nodeAt(page, 0);
  await editTurn(page, "One.", "First. ");
  const kept = page.waitForResponse(/\/activate$/);
  await page.goto(`${skein.origin}/c/${id}/n/${first}`);
  await kept;
  await settled(page);
  expect(await shownTexts(page)).toEqual(["One.", "Answer 1"]);
  expect((await ask(page, model, "Two. ")).join("")).toBe("One. Answer 1Two. ");

  // Regenerating an answer begins another branch; its question keeps its version there.
  const again = model.requests.length;
  await turns(page).nth(1).getByRole("button", { name: "Generate another answer" }).click();
  expect((await model.request(again)).texts.join("")).toBe("One. ");
  await settled(page);
  expect(await shownTexts(page)).toEqual(["One.", "Answer 3"]);
  await previous(turns(page).nth(1)).click();
  await expect(turns(page)).toHaveCount(4);
  await editTurn(page, "Answer 1", "Better. ");
  expect(await shownTexts(page)).toEqual(["One.", "Better.", "Two.", "Answer 2"]);
  expect((await ask(page, model, "Three. ")).join("")).toBe("One. Better. Two. Answer 2Three. ");

  const went = page.waitForResponse(/\/activate$/);
  await turns(page).first().getByRole("button", { name: "Next alternative" }).click();
  await went;
  const undone = page.waitForResponse(/\/activate$/);
  await turns(page).first().focus();
  await page.keyboard.press("u");
  await undone;
  await expect(turns(page).first()).toContainText("One.");
  await composer(page).waitFor();
  expect((await ask(page, model, "Four. ")).join("")).toBe("One. Better. Two. Answer 2Three. Answer 4Four. ");
});
