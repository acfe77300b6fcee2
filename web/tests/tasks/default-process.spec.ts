// The first connected model answers in new conversations; another default is chosen in Settings, and none is replaced silently.
import { RECORDING, RecordingModel } from "../support/recording-model";
import { answered, composer, lastTurn, send } from "../support/conversation";
import { expect, test } from "../support/test";
import { Mouse } from "../support/hands";

let model: RecordingModel;
test.beforeAll(async () => void (model = await RecordingModel.start()));
test.afterAll(() => model.stop());

test("the first connected model is the default until another is chosen, and its absence is shown", async ({
  page,
  person,
  skein,
}) => {
  const hands = new Mouse(page);
  const next = page
    .getByRole("region", { name: "Message box" })
    .getByTitle("Process that answers the next message");
  const begin = async () => {
    await page.goto(skein.origin);
    await page
      .getByRole("button", { name: /New conversation|Start your own/ })
      .first()
      .click();
    await composer(page).waitFor();
  };
  await begin();
  await expect(next).toHaveText("Chat");

  await page.goto(`${skein.origin}/catalog/connect`);
  await page.getByRole("radio", { name: "OpenAI-compatible models on this machine or network" }).click();
  await page.getByLabel("Address").fill(model.endpoint);
  await page.getByRole("combobox", { name: "Model" }).fill(RECORDING);
  await page.getByRole("checkbox", { name: /^Allow services to call/ }).check();
  await page.getByRole("button", { name: "Connect and test" }).click();
  await expect(page.getByText(`Chat with ${RECORDING} answers in new conversations.`)).toBeVisible();
  const asked = model.requests.length;

  await begin();
  await expect(next).toHaveText(`Chat with ${RECORDING}`);
  await send(hands, page, "How many herons?");
  await answered(page, 2);
  await expect(lastTurn(page)).toContainText(/^.*Answer \d+/s);
  expect(model.requests.length).toBe(asked + 1);

  // A second model changes nothing until it is made the default.
  const second = await person.modelProcess("Second", model, RECORDING);
  await begin();
  await expect(next).toHaveText(`Chat with ${RECORDING}`);
  await next.click();
  await expect(page.getByRole("menuitemradio", { name: /Default/ })).toContainText(`Chat with ${RECORDING}`);
  await page.keyboard.press("Escape");
  await page.goto(`${skein.origin}/settings/answers`);
  await page.getByLabel("Default process").selectOption({ label: "Second" });
  await expect
    .poll(async () => (await person.api.get<Default>("/account/default-process")).chosen?.id)
    .toBe(second.id);
  await begin();
  await expect(next).toHaveText("Second");

  // While it is disabled the built-in model answers, and the page says so.
  const begun = page.url();
  await person.api.put(`/processes/${second.id}`, { enabled: false, basedOnHash: second.hash });
  await expect(page.getByText("Second cannot answer: it is disabled.")).toBeVisible();
  await expect(next).toHaveText("Chat");
  await begin();
  expect(page.url()).not.toBe(begun);
  await expect(page.getByText(/^Second cannot answer: .*disabled/)).toBeVisible();
  await expect(next).toHaveText("Chat");
});

interface Default {
  chosen: { id: string } | null;
}
