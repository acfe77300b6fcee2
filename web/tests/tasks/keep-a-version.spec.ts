import { expect, task } from "../support/test";

task("keep a step at a version of a tool", async ({ home: page, person, hands }) => {
  const inputs = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
  const { id: service } = await person.service("Gauge");
  const tool = await person.level(service, { inputSchema: inputs("river") });
  await person.api.put(`/tools/${tool.id}`, { inputSchema: inputs("lake"), basedOnHash: tool.hash });
  await hands.go("Processes");
  await hands.press(page.getByRole("button", { name: "New process" }).first());
  const definition = page.getByRole("group", { name: "Definition" });
  await hands.write(definition.getByLabel("Name").first(), "Read the gauge");
  await hands.press(definition.getByRole("button", { name: "Add the first step" }));
  const step = definition.getByRole("group", { name: /^Step 1/ });
  await hands.choose(step.getByLabel("Tool", { exact: true }), "Level");
  await expect(step.getByLabel(/^lake/i)).toBeVisible();
  // Each with the moment it was made.
  const first = await step.locator("option", { hasText: /^Version 1, of/ }).textContent();
  await hands.choose(step.getByLabel("Version", { exact: true }), first?.trim() ?? "");
  // Its inputs are those of that version.
  await hands.write(step.getByLabel(/^river/i), "Aare");
  await expect(definition.getByRole("button", { name: /Level, version 1/ })).toBeVisible();
  await hands.write(step.getByLabel("Output variable"), "level");
  await hands.write(definition.getByRole("textbox", { name: "Output template" }), "{{level}}");
  await hands.press(page.getByRole("button", { name: "Save", exact: true }));
  await expect(page.getByRole("main").getByText("Saved", { exact: true })).toBeVisible();
  const { steps } = await person.api.get<{ steps: object[] }>(
    `/processes/${await person.process("Read the gauge")}`,
  );
  expect(steps[0]).toMatchObject({ toolId: tool.id, toolVersion: 1, inputs: { river: "Aare" } });
});
