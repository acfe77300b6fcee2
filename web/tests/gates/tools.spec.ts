// Metrics of tools in the user's own runs.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listening } from "../support/conversation";
import { expect, test } from "../support/scripted-conversation";
import { TOLD } from "../support/scripted-model";

test("a tool says how often it was called, how well it went, and what went wrong last", async ({
  told,
  story,
  skein,
}) => {
  await told.goto(`${skein.origin}/catalog/tools/${story.tool}`);
  const numbers = told.getByRole("region", { name: "Recent metrics" });
  await expect(numbers).toContainText(/Calls\s*\d+/);
  await expect(numbers).toContainText(/Success\s*0 %/);
  await expect(numbers).toContainText("Last failure");
  await expect(told.getByRole("link", { name: /Water level/ })).toContainText("0 %");
  await numbers.getByRole("link", { name: "Open the run" }).click();
  await expect(told).toHaveURL(`${skein.origin}/runs/${story.failed}`);

  await told.goBack();
  await numbers.waitFor();
  await told.keyboard.press("v");
  await expect(told.getByRole("tab", { name: /History/ })).toHaveAttribute("aria-selected", "true");
  await told.keyboard.press("t");
  await expect(told.getByRole("tab", { name: "Test" })).toHaveAttribute("aria-selected", "true");
});

test("a tool that no run has called says so, and numbers come when one does", async ({
  page,
  person,
  skein,
}) => {
  const echo = await person.tool("Echo");
  await page.goto(`${skein.origin}/catalog/tools/${echo}`);
  const numbers = page.getByRole("region", { name: "Recent metrics" });
  await expect(numbers).toContainText("None of your recent runs called it.");
  await listening(page);
  const process = await person.define({
    name: "Say it",
    initialContext: ["word"],
    steps: [{ id: "say", toolId: echo, inputs: { value: "{word}" }, output: { variable: "said" } }],
    outputTemplate: "{{said.value}}",
  } as never);
  await person.api.ended(await person.run(process.id, { word: "heron" }));
  await expect(numbers).toContainText(/Calls\s*1/);
  await expect(numbers).toContainText(/Success\s*100 %/);
});

test("reading a document that never comes is cancelled where it is seen", async ({ page, person, skein }) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  await person.allow({ host: "127.0.0.1", port });
  const { id } = await person.service("Gauge", "http");
  await page.goto(`${skein.origin}/catalog/services/${id}?tab=discover`);
  await page.getByRole("textbox", { name: "Address of the document" }).fill(`http://127.0.0.1:${port}/api`);
  await page.getByRole("textbox", { name: "endpoint" }).fill(`http://127.0.0.1:${port}`);
  const asked = new Promise((resolve) => silent.once("request", resolve));
  await page.getByRole("button", { name: "Create tools" }).click();
  await asked;
  await page.getByRole("button", { name: "Cancel: Reading the document" }).click();
  await expect(page.getByRole("progressbar", { name: "Reading the document" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Create tools" })).toBeEnabled();
  await expect(page.getByRole("alert").filter({ hasText: /\S/ })).toHaveCount(0);
  await expect(page.getByRole("textbox", { name: "Address of the document" })).toHaveValue(/api$/);
  silent.closeAllConnections();
  silent.close();
});

test("asking a model that never answers is cancelled, and what was made can be taken back", async ({
  page,
  skein,
  model,
}) => {
  await page.goto(`${skein.origin}/catalog/connect`);
  await page.getByRole("radio", { name: "OpenAI-compatible models on this machine or network" }).click();
  await page.getByLabel("Address").fill(model.endpoint);
  await page.getByRole("combobox", { name: "Model" }).fill(TOLD);
  await page.getByRole("checkbox", { name: /^Allow services to call/ }).click();
  await page.getByRole("button", { name: "Connect and test" }).click();
  await model.asked();
  await page.getByRole("button", { name: "Cancel the test" }).click();
  await expect(page.getByRole("region", { name: "Result of the call" })).toContainText("cancelled");
  await page.getByRole("button", { name: "Undo setup" }).click();
  await expect(page.getByRole("button", { name: "Connect and test" })).toBeEnabled();
});
