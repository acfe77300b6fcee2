// A run from every side: its trace as a tree, a timeline, a flame, a graph and a log; and where it can be begun again.
import type { Page } from "@playwright/test";
import type { Schemas } from "../support/api";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import type { Person } from "../support/person";
import { expectUsableAt } from "../support/reflow";
import { expect, test } from "../support/test";

/** Two steps at once, one of them a run of its own, and one that takes what both gave. */
async function ran(person: Person): Promise<string> {
  const echo = await person.tool("Echo");
  const say = (id: string, value: string, more = {}) => ({
    id,
    toolId: echo,
    inputs: { value },
    output: { variable: id },
    ...more,
  });
  const inner = await person.define({
    name: "Count birds",
    initialContext: ["place"],
    steps: [say("herons", "eleven at {place}"), say("cranes", "two at {place}")],
    outputTemplate: "{{herons.value}}, {{cranes.value}}",
  } as unknown as Schemas["ProcessBody"]);
  const outer = await person.define({
    name: "Report of the shore",
    initialContext: ["place"],
    steps: [
      {
        id: "birds",
        processId: inner.id,
        inputs: { place: "{place}" },
        output: { variable: "birds" },
        execution: { mode: "parallel" },
      },
      say("water", "1.42 m", { execution: { mode: "parallel" } }),
      say("report", "{birds}; water {water.value}"),
    ],
    outputTemplate: "{{report.value}}",
  } as unknown as Schemas["ProcessBody"]);
  const run = await person.run(outer.id, { place: "the north shore" });
  await person.api.ended(run);
  return run;
}
const details = (page: Page) => page.getByRole("region", { name: "Details" });

test("a trace is looked at from every side, by keys alone", async ({ page, person, skein, watch }) => {
  const run = await ran(person);
  await page.goto(`${skein.origin}/runs/${run}`);
  await expect(page.getByRole("tree", { name: "Trace" })).toBeVisible();

  await page.keyboard.press("3");
  const flame = page.getByRole("tree", { name: "Flame graph of the run" });
  await expect(flame.getByRole("treeitem", { name: /^Report of the shore .*, completed/ })).toBeVisible();
  await flame.focus();
  await page.keyboard.press("ArrowDown");
  await expect(details(page).getByRole("heading", { name: "birds", exact: true })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expect(details(page).getByRole("heading", { name: "Count birds" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByText(/in view/)).toBeVisible();
  await page.keyboard.press("Backspace");
  await expect(page.getByText(/in total/)).toBeVisible();
  await expectAccessible(page, "flame");
  await expectAccessibleInDark(page, "flame");
  await expectUsableAt(page, 320, 640, "flame");
  await expectUsableAt(page, 640, 400, "flame");

  await page.keyboard.press("4");
  const graph = page.getByRole("listbox", { name: "Steps as a graph" });
  await expect(graph.getByRole("option", { name: /^1\. herons completed/ })).toBeVisible();
  await page.getByRole("button", { name: "Report of the shore", exact: true }).press("Enter");
  await expect(graph.getByRole("option", { name: /^3\. report completed/ })).toBeVisible();
  await graph.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await expect(details(page).getByRole("heading", { name: "report", exact: true })).toBeVisible();
  await expectAccessible(page, "graph");
  await expectAccessibleInDark(page, "graph");
  await expectUsableAt(page, 320, 640, "graph");
  await expectUsableAt(page, 640, 400, "graph");

  await page.keyboard.press("5");
  await expect(page.getByRole("log", { name: "Log of the run" })).toBeVisible();
  await page.keyboard.press("6");
  await expect(page.getByRole("list", { name: "Checkpoints" }).getByRole("listitem")).toHaveCount(3);
  await watch.settled(page);
  await expectAccessible(page, "checkpoints");
  await expectAccessibleInDark(page, "checkpoints");
  await expectUsableAt(page, 320, 640, "checkpoints");
});

test("a run is retried from a step, branched with other values, replayed and read again", async ({
  page,
  person,
  skein,
}) => {
  const run = await ran(person);
  const at = `${skein.origin}/runs/${run}`;
  await page.goto(`${at}?view=checkpoints`);
  const kept = page.getByRole("list", { name: "Checkpoints" });
  await kept.getByRole("button", { name: /^water/ }).press("Shift+R");
  const retry = page.getByRole("dialog", { name: "Retry from “water”?" });
  await expect(retry.getByText("This repeats calls.")).toBeVisible();
  await retry.getByRole("button", { name: "Retry", exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(run));
  const begun = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await person.api.ended(begun);
  const again = await person.api.get<Schemas["WholeExecutionView"]>(`/executions/${begun}`);
  expect(again.branchedFrom).toBe(run);
  expect(again.calls.map(({ stepId }) => stepId)).toEqual(["water", "report"]);

  await page.goto(`${skein.origin}/runs/${begun}?view=checkpoints`);
  await expect(kept.getByRole("button", { name: /^birds/ })).toContainText("reused");
  await expect(kept.getByRole("button", { name: "Branch… (birds)" })).toBeVisible();
  await page.keyboard.press("3");
  const flame = page.getByRole("tree", { name: "Flame graph of the run" });
  await expect(flame.getByRole("treeitem", { name: /^water/ })).toBeVisible();
  await expect(flame.getByRole("treeitem", { name: /^birds/ })).toHaveCount(0);

  await page.goto(`${at}?at=${encodeURIComponent(`${run}/report`)}`);
  await expect(details(page).getByRole("heading", { name: "report", exact: true })).toBeVisible();
  await page.keyboard.press("Shift+B");
  const branch = page.getByRole("dialog", { name: "Branch this run" });
  await branch.getByLabel("birds").fill("nothing but gulls");
  await branch.getByRole("button", { name: "Start branch" }).click();
  await expect(page.getByText(/nothing but gulls; water 1\.42 m/).first()).toBeVisible();

  await page.goto(at);
  await page.getByRole("button", { name: "Replay…" }).click();
  const replay = page.getByRole("dialog", { name: "Replay this run?" });
  await replay.getByRole("button", { name: "Show kept results" }).click();
  await expect(replay).toBeHidden();
  await expect(details(page)).toBeFocused();
  await expect(page).toHaveURL(new RegExp(run));
  await expect(details(page).getByText(/eleven at the north shore/)).toBeVisible();
  await page.getByRole("button", { name: "Replay…" }).click();
  await replay.getByRole("button", { name: "Replay", exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(run));
  await expect(page.getByText(/eleven at the north shore, two at the north shore/).first()).toBeVisible();
});
