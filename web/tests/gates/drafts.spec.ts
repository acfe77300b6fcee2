// Typed text is never lost, and no action uses other text than that on the screen.
import { expectAccessible } from "../support/axe";
import type { Page } from "@playwright/test";
import type { Schemas } from "../support/api";
import { PIXEL } from "../support/files";
import { answer, drawn } from "../support/held-requests";
import { composer, listening, turns, turnWith } from "../support/conversation";
import { expect, test } from "../support/test";

const BROKEN = '{ "value": "stork"';
const raw = (page: Page) => page.getByRole("switch", { name: "Raw JSON" });
const json = (page: Page) => page.getByRole("textbox", { name: "JSON", exact: true });

test("arguments that cannot be read are not approved, and stay", async ({ page, person, skein }) => {
  const { id } = await person.saying();
  const run = await person.run(id, { word: "heron" });
  await page.goto(`${skein.origin}/review`);
  await page.getByRole("link", { name: /heron/ }).click();
  await page.getByRole("button", { name: /^Edit first/ }).click();
  await raw(page).click();
  await json(page).fill(BROKEN);
  await page.getByRole("button", { name: /^Approve/ }).click();
  await expect(json(page)).toBeFocused();
  await expect(page.getByText(/^Invalid JSON:/)).toBeVisible();
  await expect(raw(page)).toBeDisabled();
  await page.reload();
  await expect(json(page)).toHaveValue(BROKEN);
  const { data } = await person.api.get<{ data: unknown[] }>("/reviews?status=open");
  expect(data).toHaveLength(1);
  await json(page).fill(`${BROKEN}}`);
  await page.getByRole("button", { name: "Approve with edits" }).click();
  await expect(page.getByText("No open reviews").first()).toBeVisible();
  await page.goto(`${skein.origin}/runs/${run}`);
  await expect(page.getByText("stork").first()).toBeVisible();
});

test("a call and a run wait for what can be read", async ({ page, person, skein }) => {
  const called: string[] = [];
  page.on(
    "request",
    (one) => one.method() === "POST" && /tools|execute/.test(one.url()) && called.push(one.url()),
  );
  await page.goto(`${skein.origin}/catalog/tools/${await person.tool("Echo")}`);
  await raw(page).click();
  await json(page).fill(BROKEN);
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await expect(json(page)).toBeFocused();
  await page.reload();
  await expect(json(page)).toHaveValue(BROKEN);
  await page.getByRole("button", { name: "Restore the last valid JSON" }).click();
  await expect(raw(page)).toBeEnabled();

  const { id } = await person.saying("auto");
  await page.goto(`${skein.origin}/processes/${id}?run=1`);
  const dialog = page.getByRole("dialog", { name: /^Run / });
  await dialog.getByRole("switch", { name: "Raw JSON" }).click();
  await dialog.getByRole("textbox", { name: "JSON" }).fill(BROKEN);
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await expect(dialog.getByRole("textbox", { name: "JSON" })).toBeFocused();
  await page.reload();
  await expect(dialog.getByRole("textbox", { name: "JSON" })).toHaveValue(BROKEN);
  expect(called).toEqual([]);
});

test("values typed for a run stay in sight when the process drops the input", async ({
  page,
  person,
  skein,
}) => {
  const { id, hash } = await person.saying("auto");
  const at = `${skein.origin}/processes/${id}?run=1`;
  await page.goto(at);
  const dialog = page.getByRole("dialog", { name: /^Run / });
  await dialog.getByRole("textbox", { name: "word" }).fill("a heron");
  await page.goto(skein.origin);
  const echo = { toolId: await person.tool("Echo"), inputs: { value: "{bird}" } };
  await person.api.put(`/processes/${id}`, {
    initialContext: ["bird"],
    steps: [{ id: "say", ...echo, output: { variable: "said" } }],
    basedOnHash: hash,
  });
  await page.goto(at);
  const notice = dialog.getByRole("status").filter({ hasText: "one value you entered is not used" });
  await expect(notice).toContainText("word is no longer an input");
  await expect(notice).toContainText("a heron");
  await dialog.getByRole("textbox", { name: "bird" }).fill("a heron");
  await page.reload();
  await expect(notice).toBeVisible();
  await expectAccessible(page, "values that are not used");
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/runs\//);
});

test("a definition that cannot be read keeps a process from being saved, in every view", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.saying();
  await page.goto(`${skein.origin}/processes/${id}?view=raw`);
  const definition = page.getByRole("textbox", { name: "Definition as JSON" });
  const whole = await definition.inputValue();
  await definition.fill(whole.replace('"Say it"', '"Say it'));
  await expect(page.getByText(/raw view holds invalid JSON/)).toBeVisible();
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
  await page.reload();
  await page.getByRole("tab", { name: "Raw" }).click();
  await expect(definition).toHaveValue(whole.replace('"Say it"', '"Say it'));
  await definition.fill(whole.replace('"Say it"', '"Say it twice"'));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("main").getByText("Saved", { exact: true })).toBeVisible();
});

test("a draft of title and instructions survives changes elsewhere, a stray click and closing", async ({
  page,
  person,
  skein,
}) => {
  const { id, hash } = await person.begin("Herons");
  await page.goto(`${skein.origin}/c/${id}`);
  await page.getByRole("button", { name: "System instructions" }).click();
  const sheet = page.getByRole("dialog", { name: "Title and instructions" });
  const told = sheet.getByRole("textbox", { name: "System instructions" });
  await told.fill("Answer in short sentences.");
  await listening(page);
  await person.api.put(`/conversations/${id}`, { title: "Herons and storks", basedOnHash: hash });
  await expect(sheet.getByText("Someone else changed this while you were editing.")).toBeVisible();
  await expect(told).toHaveValue("Answer in short sentences.");
  // A selection that is drawn out of the field ends beside the dialog.
  const [field, frame] = [await told.boundingBox(), await sheet.boundingBox()];
  if (!field || !frame) throw new Error("the dialog has no place");
  await page.mouse.move(field.x + 40, field.y + 12);
  await page.mouse.down();
  await page.mouse.move(frame.x - 60, field.y + 12, { steps: 4 });
  await page.mouse.up();
  await expect(sheet).toBeVisible();
  await expect(told).toHaveValue("Answer in short sentences.");
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await page.reload();
  await page.getByRole("button", { name: "System instructions" }).click();
  await expect(told).toHaveValue("Answer in short sentences.");
  await sheet.getByRole("button", { name: "Keep my text" }).click();
  await sheet.getByRole("button", { name: "Save", exact: true }).click();
  await expect(sheet).toBeHidden();
  await page.getByRole("button", { name: "Edit system instructions" }).click();
  await page.mouse.click(5, 5);
  await expect(sheet).toBeHidden();
});

test("a merge written by hand stays when something else happens, and comes back after a press", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "There were eleven grey herons at the north shore.");
  const second = await person.edit(first, "There were nine grey herons at the south shore.");
  await page.goto(`${skein.origin}/compare?nodes=${first.id},${second.id}`);
  await page.getByRole("button", { name: "Merge…" }).click();
  const sheet = page.getByRole("dialog", { name: "Merge two answers" });
  const result = sheet.getByRole("textbox", { name: "Merged text" });
  await expect(result).toHaveValue(/eleven/);
  await result.fill("Ten herons.");
  await sheet.getByRole("button", { name: /south/ }).click();
  await expect(result).toHaveValue(/south/);
  await listening(page);
  const read = page.waitForResponse((answer) => answer.url().endsWith(`/nodes/${second.id}`));
  await person.activate(first);
  await (await read).finished();
  await drawn(page);
  // Neither what was taken nor what was written before is lost to what was read.
  await expect(result).toHaveValue(/south/);
  await sheet.getByRole("button", { name: "Restore my text" }).click();
  await expect(result).toHaveValue("Ten herons.");
});

test("a choice of answers stays as it is made when another process comes", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  await person.say(id, "Are there herons?");
  await page.goto(`${skein.origin}/c/${id}`);
  await turns(page).first().click();
  await page.keyboard.press("Shift+g");
  const sheet = page.getByRole("dialog", { name: "Generate answers" });
  const memory = sheet.getByRole("checkbox", { name: "Chat with memory" });
  await memory.check();
  await sheet.getByRole("spinbutton", { name: "Answers per process" }).fill("3");
  const echo = {
    id: "say",
    toolId: await person.tool("Echo"),
    inputs: { value: "yes" },
    output: { variable: "said" },
  };
  await listening(page);
  await person.define({
    name: "Say yes",
    steps: [echo],
    outputTemplate: "{{said.value}}",
  } as Schemas["ProcessBody"]);
  await expect(sheet.getByRole("checkbox", { name: "Say yes" })).toBeVisible();
  await expect(memory).toBeChecked();
  await expect(sheet.getByRole("button", { name: "Generate 6 answers" })).toBeVisible();
});

test("a wording that is left is there again, and goes on while one looks elsewhere", async ({
  page,
  person,
  skein,
}) => {
  const { id } = await person.begin("Herons");
  const line = "At dawn they stand in the shallow water and wait for the fish to come nearer. ";
  for (let at = 1; at <= 24; at++) await person.say(id, `Note ${at}. ${line.repeat(6)}`);
  await page.goto(`${skein.origin}/c/${id}`);
  await turnWith(page, "Note 24.").first().click();
  await page.keyboard.press("e");
  const box = page.getByRole("textbox", { name: "New version" });
  await box.fill("Written with care");
  await page.keyboard.press("Escape");
  await expect(box).toBeHidden();
  await page.keyboard.press("e");
  await expect(box).toHaveValue("Written with care");
  await expect(box).toBeFocused();
  await page.getByRole("log", { name: "Messages" }).evaluate((log) => log.scrollTo(0, 0));
  await expect(turnWith(page, "Note 1.").first()).toBeVisible();
  await expect(box).toBeFocused();
  await page.keyboard.type(", and more");
  await expect(box).toHaveValue("Written with care, and more");
  await page.getByRole("button", { name: "Start over" }).click();
  await expect(box).toHaveValue(/^Note 24/);
});

test("attachments are kept like words, and a refusal finds whoever came back", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/status of 422/);
  const { id } = await person.begin("Herons");
  await page.goto(`${skein.origin}/c/${id}`);
  await page.locator("input[type=file]").setInputFiles({
    name: "heron.png",
    mimeType: "image/png",
    buffer: PIXEL,
  });
  const chip = page.getByRole("button", { name: "Remove heron.png" });
  await expect(chip).toBeVisible();
  await expect(page.getByText("uploading…")).toHaveCount(0);
  await page.reload();
  await expect(chip).toBeVisible();
  await composer(page).fill("What is this?");
  let refuse: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (refuse = resolve));
  await answer(page, /\/turns$/, async (route) => {
    await told;
    const error = { code: "rule_violation", message: "refused", details: {}, retryable: false };
    await route.fulfill({ status: 422, json: { error } });
  });
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(composer(page)).toHaveValue("");
  await page.getByRole("navigation").first().getByRole("link", { name: "Runs" }).first().click();
  await expect(composer(page)).toBeHidden();
  await page.goBack();
  await composer(page).waitFor();
  refuse();
  await expect(page.getByText("Not sent. Your text is still here.")).toBeVisible();
  await expect(composer(page)).toHaveValue("What is this?");
  await expect(chip).toBeVisible();
});

test("a message sent before the processes have loaded waits for them and is answered", async ({
  page,
  person,
  skein,
  watch,
}) => {
  watch.allow(/status of 503/);
  const { id } = await person.begin("Herons");
  let isAway = true;
  await answer(page, /\/processes\?/, (route) =>
    isAway
      ? route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "away", details: {} } } })
      : route.continue(),
  );
  await page.goto(`${skein.origin}/c/${id}`);
  await composer(page).fill("Are there herons?");
  await composer(page).press("Enter");
  await expect(page.getByText(/^Could not load the processes/)).toBeVisible();
  await expect(composer(page)).toHaveValue("Are there herons?");
  isAway = false;
  await page
    .getByRole("region", { name: "Message box" })
    .getByRole("button", { name: /again/i })
    .first()
    .click();
  await expect(turns(page)).toHaveCount(2);
});
