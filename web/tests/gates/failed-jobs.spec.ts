// Home shows failed jobs, and a list gives their reasons; the responses are given in the server's place, because no person
// can bring a job into that state.
import type { Page } from "@playwright/test";
import type { Schemas } from "../support/api";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import type { Person } from "../support/person";
import { expectUsableAt } from "../support/reflow";
import { answer } from "../support/held-requests";
import { expect, test } from "../support/test";

const DEAD = /\/api\/v1\/queue\/dead(\?|$)/;
type DeadJob = Schemas["DeadJobView"];

async function putAside(page: Page, jobs: DeadJob[]): Promise<void> {
  await answer(page, DEAD, (route) =>
    route.fulfill({ json: { data: jobs, pagination: { next: null, limit: 100 } } }),
  );
}
async function ran(person: Person): Promise<string> {
  const process = await person.define({
    name: "Level of a day",
    initialContext: ["value"],
    steps: [
      {
        id: "level",
        toolId: await person.tool("Echo"),
        inputs: { value: "{value}" },
        output: { variable: "level" },
      },
    ],
    outputTemplate: "{{level.value}}",
  } as unknown as Schemas["ProcessBody"]);
  const run = await person.run(process.id, { value: "1.42 m" });
  await person.api.ended(run);
  return run;
}
const dead = (id: string, more: Partial<DeadJob>): DeadJob => ({
  id,
  ownerId: "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
  queue: "rest_call",
  attempts: 3,
  lost: 0,
  createdAt: "2026-11-15T09:30:00.000Z",
  diedAt: "2026-11-15T09:31:30.000Z",
  reason: null,
  executionId: null,
  step: null,
  ...more,
});

test("failed jobs lead from Home to the reason and to the run", async ({ page, person, skein, watch }) => {
  const run = await ran(person);
  await putAside(page, [
    dead("job_1", { executionId: run, step: 0, lost: 2, reason: "its payload cannot be read" }),
    dead("job_2", { executionId: "execution_of_somebody", step: 1, diedAt: "2026-11-15T10:00:00.000Z" }),
  ]);
  await page.goto(skein.origin);
  await page.getByRole("list", { name: "Health" }).getByRole("link", { name: "2 calls failed" }).click();
  const rows = page.getByRole("list", { name: "Failed jobs" }).getByRole("listitem");
  await expect(rows).toHaveCount(2);
  // The newest failed job comes first; jobs of other users have no reason.
  await expect(rows.first()).toContainText("Only the owner can see the reason.");
  await expect(rows.first().getByRole("link")).toHaveCount(0);
  await expect(rows.last()).toContainText("HTTP request");
  await expect(rows.last()).toContainText("its payload cannot be read");
  await expect(rows.last()).toContainText("step 1 · tried 3 times · its worker vanished 2 times");
  await watch.settled(page);
  await expectAccessible(page, "failed jobs");
  await expectAccessibleInDark(page, "failed jobs");
  await expectUsableAt(page, 320, 640, "failed jobs");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Level of a day", level: 1 })).toBeVisible();
});

test("without failed jobs Home is silent and the list is empty", async ({ page, skein, watch }) => {
  await page.goto(skein.origin);
  await watch.settled(page);
  await expect(page.getByRole("list", { name: "Health" })).not.toContainText("failed");
  await page.goto(`${skein.origin}/runs`);
  await page.getByRole("link", { name: "Failed jobs" }).click();
  await expect(page.getByRole("heading", { name: "No failed jobs" })).toBeVisible();
});
