// The model context: pinned parts are dropped last.
import type { Schemas } from "../support/api";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { listening } from "../support/conversation";
import { expect, test } from "../support/test";

test("a part is pinned, stays, and is let go again", async ({ page, person, skein }) => {
  const { id } = await person.begin("Long");
  await person.say(id, "The first thing that was said.");
  const rule = await person.say(id, "Herons are counted at dusk.");
  let last = rule;
  for (let turn = 0; turn < 6; turn++) last = await person.say(id, "heron ".repeat(300));
  await page.goto(`${skein.origin}/c/${id}?pane=context&of=${last.id}`);
  const pane = page.getByRole("tabpanel", { name: "Context" });
  await pane.getByRole("spinbutton", { name: "Budget in tokens" }).fill("3072");
  const part = pane.getByRole("listitem").filter({ hasText: "Herons are counted at dusk." });
  await expect(part).toContainText("Excluded: exceeds the budget");
  await part.getByRole("button", { name: "Pin in context" }).press("Enter");
  await expect(part).toContainText("pinned: dropped last");
  await expect(part).not.toContainText("Excluded");
  await part.getByRole("button", { name: "Unpin" }).press("Enter");
  await expect(part).toContainText("Excluded: exceeds the budget");

  // The same by keys, on the part that has the focus.
  await part.getByRole("button", { name: "Herons are counted at dusk." }).press("p");
  await expect(part).toContainText("pinned: dropped last");
  await part.getByRole("button", { name: "Herons are counted at dusk." }).press("x");
  await expect(part).toContainText("excluded by you");
  await part.getByRole("button", { name: "Herons are counted at dusk." }).press("x");
  await expect(part).toContainText("pinned: dropped last");
});

test("the context is compared with that of the last call", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  await person.ask(id, "There were eleven herons. How many herons were there?");
  const out = await person.say(id, "Two of them were cranes.");
  const last = await person.say(id, "So how many were there?");
  await page.goto(`${skein.origin}/c/${id}?pane=context&of=${last.id}`);
  const pane = page.getByRole("tabpanel", { name: "Context" });
  const changes = pane.getByRole("list", { name: "Changes since the last call" }).getByRole("listitem");
  await expect(changes).toHaveCount(3);
  await expect(changes.filter({ hasText: "So how many were there?" })).toContainText("Added");
  await expect(pane).toContainText(/tokens then, .* now \(\+\d+\)/);
  // An excluded turn is not part of it.
  await listening(page);
  await person.mark(out, { excluded: true });
  await expect(changes).toHaveCount(2);
  await expect(changes.filter({ hasText: "cranes" })).toHaveCount(0);
});

test("tools that a process offers are listed with their tokens", async ({ page, person, skein }) => {
  const echo = await person.tool("Echo");
  const { data: processes } = await person.api.get<{ data: Schemas["ProcessView"][] }>(
    "/processes?limit=100",
  );
  const chat = processes.find(({ name }) => name === "Chat");
  const steps = (chat?.steps ?? []).map(({ id, toolId, inputs, output }) => ({
    id,
    toolId,
    inputs,
    output,
    tools: id === "answer" ? [{ toolId: echo }] : undefined,
  }));
  const process = await person.define({
    name: "Chat with Echo",
    initialContext: chat?.initialContext,
    steps,
    outputTemplate: chat?.outputTemplate,
  } as Schemas["ProcessBody"]);
  const { id } = await person.begin("Tools", { processId: process.id });
  await person.say(id, "heron ".repeat(2000));
  const last = await person.say(id, "And now?");
  await page.goto(`${skein.origin}/c/${id}?pane=context&of=${last.id}`);
  const pane = page.getByRole("tabpanel", { name: "Context" });
  await expect(pane).toContainText("Tools offered to the model");
  await expect(pane).toContainText(/Tools in addition, about \d+/);
  await expect(pane.getByLabel("raw context", { exact: true })).toContainText('"name": "echo"');
  await expectAccessible(page, "tools");
  await expectAccessibleInDark(page, "tools");
});
