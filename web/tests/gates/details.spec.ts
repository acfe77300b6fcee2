// Small things that were wrong once.
import { turns } from "../support/talk";
import { expect, test } from "../support/test";

test("words typed before a filter is pressed are looked for, and nobody takes them along", async ({
  page,
  skein,
}) => {
  await page.goto(`${skein.origin}/search`);
  const words = page.getByRole("searchbox", { name: "Words to look for" });
  await words.waitFor();
  // All within one moment, before what was typed is asked for.
  await words.evaluate((field: HTMLInputElement) => {
    field.value = "heron";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    [...document.querySelectorAll("button")].find((one) => /bookmark/i.test(one.textContent ?? ""))?.click();
  });
  await expect(page).toHaveURL(/q=heron/);
  await expect(words).toHaveValue("heron");
  await page.clock.install();
  await words.evaluate((field: HTMLInputElement) => {
    field.value = "stork";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector<HTMLAnchorElement>('nav a[href="/runs"]')?.click();
  });
  await page.clock.runFor(1000);
  await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
  await expect(page).toHaveURL(`${skein.origin}/runs`);
});

test("an answer that failed was not answered", async ({ page }) => {
  await page.route(/\/api\/v1\/nodes\/[^/]+$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), status: "failed" } });
  });
  await page.getByRole("button", { name: "Ask this" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "broke off" })).toBeVisible();
  await expect(page.getByText(/answered in/)).toHaveCount(0);
  await page.unrouteAll();
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText(/answered in \d+ ms/)).toBeVisible();
});

test("what needs a decision interrupts, and keys are shown as they are bound", async ({
  page,
  person,
  skein,
}) => {
  const process = await person.define({
    name: "Say it",
    initialContext: ["word"],
    steps: [
      {
        id: "say",
        toolId: await person.tool("Echo"),
        inputs: { value: "{word}" },
        output: { variable: "said" },
        execution: { interactionMode: "manual" },
      },
    ],
    outputTemplate: "{{said.value}}",
  } as never);
  await expect(page.getByRole("contentinfo", { name: "Status" })).toContainText("Connected");
  await person.run(process.id, { word: "heron" });
  await expect(page.locator("[aria-live=assertive]")).toHaveText("Echo needs approval, asked by Say it");

  const { id } = await person.begin("Herons");
  await person.say(id, "Two herons.");
  await page.evaluate(() =>
    localStorage.setItem(
      "skein.settings",
      JSON.stringify({ keys: { "review.approve": ["y"], "conversation.fork": ["q"] } }),
    ),
  );
  await page.goto(`${skein.origin}/review`);
  await expect(page.getByRole("button", { name: /^Approve/ }).locator("kbd")).toHaveText("Y");
  await page.goto(`${skein.origin}/c/${id}`);
  await page.getByRole("button", { name: "More for this turn" }).click();
  await expect(page.getByRole("menuitem", { name: /Fork a new conversation/ })).toContainText("Q");
});

test("another branch is shown beside the path, or over it where there is no room", async ({
  page,
  person,
  skein,
}) => {
  await page.setViewportSize({ width: 640, height: 400 });
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "On 3 March there were eleven herons.");
  await person.edit(first, "On 3 March there were nine herons.", true);
  await page.goto(`${skein.origin}/c/${id}`);
  await turns(page).first().getByText("nine herons").click();
  await page.keyboard.press("s");
  const beside = page.getByRole("complementary", { name: "Another branch" });
  await expect(beside.getByText("eleven herons")).toBeInViewport();
  await beside.getByRole("button", { name: "Close the other branch" }).click();
  await expect(beside).toHaveCount(0);

  // How each alternative stands is said.
  await turns(page)
    .first()
    .getByRole("button", { name: /2 of 2|2\/2/ })
    .first()
    .click();
  await expect(page.getByRole("menuitemradio").or(page.getByRole("menuitem")).first()).toContainText(
    "complete",
  );
});

test("all that was said before a fork can be read there", async ({ page, person, skein }) => {
  const { id } = await person.begin("Herons");
  for (let count = 1; count <= 205; count++) await person.say(id, `Heron number ${count}.`);
  const end = await person.end(id);
  const fork = await person.api.post<{ id: string }>(`/conversations/${id}/fork`, { nodeId: end });
  await page.goto(`${skein.origin}/c/${fork.id}`);
  const before = page.getByRole("region", { name: "Before the fork" });
  const more = before.getByRole("button", { name: "Show more" });
  await more.click();
  await expect(before.getByText("Heron number 6.", { exact: true })).toHaveCount(1);
  await expect(before.getByText("Heron number 5.", { exact: true })).toHaveCount(0);
  await more.click();
  await expect(before.getByText("Heron number 1.", { exact: true })).toHaveCount(1);
  await expect(more).toHaveCount(0);
  await before.getByRole("button", { name: "Show fewer" }).click();
  await expect(before.getByText("Heron number 1.", { exact: true })).toHaveCount(0);
});
