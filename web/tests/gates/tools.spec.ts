// What the catalogue tells of its tools: how they did in one's own runs.
import { expect, test } from "../support/test";

test("a tool says how often it was called, how well it went, and what went wrong last", async ({
  told,
  story,
  skein,
}) => {
  await told.goto(`${skein.origin}/catalogue/tools/${story.tool}`);
  const numbers = told.getByRole("region", { name: "How it did lately" });
  await expect(numbers).toContainText(/Calls\s*\d+/);
  await expect(numbers).toContainText(/Success\s*0 %/);
  await expect(numbers).toContainText("Last failure");
  await expect(told.getByRole("link", { name: /Water level/ })).toContainText("0 %");
  await numbers.getByRole("link", { name: "the run" }).click();
  await expect(told).toHaveURL(`${skein.origin}/runs/${story.failed}`);

  await told.goBack();
  await numbers.waitFor();
  await told.keyboard.press("v");
  await expect(told.getByRole("tab", { name: /History/ })).toHaveAttribute("aria-selected", "true");
  await told.keyboard.press("t");
  await expect(told.getByRole("tab", { name: "Try it" })).toHaveAttribute("aria-selected", "true");
});

test("a tool that no run has called says so, and numbers come when one does", async ({
  page,
  person,
  skein,
}) => {
  const echo = await person.tool("Echo");
  await page.goto(`${skein.origin}/catalogue/tools/${echo}`);
  const numbers = page.getByRole("region", { name: "How it did lately" });
  await expect(numbers).toContainText("None of your runs called it lately.");
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
