import { expect, task } from "../support/test";

task(
  "define a process with a manual step, run it, approve it with an edit",
  async ({ home: page, hands }) => {
    await hands.go("Processes");
    await hands.press(page.getByRole("button", { name: "New process" }).first());
    const definition = page.getByRole("group", { name: "Definition" });
    await hands.write(definition.getByLabel("Name").first(), "Say it twice");
    const context = definition.getByRole("region", { name: "Inputs" });
    await hands.press(context.getByRole("button", { name: /^Add / }));
    await hands.write(context.getByLabel("Name"), "word");
    const add = definition.getByRole("button", { name: "Add the first step" });
    if (await add.isVisible()) await hands.press(add);
    const step = definition.getByRole("group", { name: /^Step 1/ });
    await hands.choose(step.getByLabel("Tool", { exact: true }), "Echo");
    await hands.write(step.getByLabel(/^value/i), "{word}");
    await hands.write(step.getByLabel("Output variable"), "said");
    const rules = step.getByText("Execution");
    const approves = step.getByRole("switch", { name: "A person approves the call" });
    if (!(await approves.isVisible())) await hands.press(rules.locator("xpath=ancestor::summary"));
    await hands.press(approves);
    await hands.write(definition.getByRole("textbox", { name: "Output template" }), "{{said.value}}!");
    await hands.press(page.getByRole("button", { name: "Save", exact: true }));
    await expect(page.getByRole("main").getByText("Saved", { exact: true })).toBeVisible();

    await hands.press(page.getByRole("button", { name: /^Run/ }));
    const form = page.getByRole("dialog", { name: /^Run / });
    await hands.write(form.getByLabel("word"), "heron");
    await hands.press(form.getByRole("button", { name: "Run", exact: true }));

    await hands.go("Review");
    await hands.press(page.getByRole("link", { name: /heron/ }).first());
    await hands.act(page.getByRole("button", { name: "Edit" }).first(), "e");
    await hands.write(page.getByRole("textbox", { name: /value/i }).first(), "stork");
    await hands.press(page.getByRole("button", { name: /^Approve/ }));
    await hands.go("Runs");
    await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
    await hands.press(page.getByRole("link", { name: /Say it twice/ }).first());
    await expect(page.getByText("stork!").first()).toBeVisible();
  },
);
