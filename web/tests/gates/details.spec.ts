// Small things that were wrong once.
import { turns } from "../support/conversation";
import { answer } from "../support/held-requests";
import { expect, test } from "../support/test";

test("words typed before a filter is pressed are looked for, and nobody takes them along", async ({
  page,
  skein,
}) => {
  await page.goto(`${skein.origin}/search`);
  const words = page.getByRole("searchbox", { name: "Search messages" });
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

test("an answer that failed was not answered", async ({ home: page }) => {
  await answer(page, /\/api\/v1\/nodes\/[^/]+$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), status: "failed" } });
  });
  await page.getByRole("button", { name: "Ask this" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "was interrupted" })).toBeVisible();
  await expect(page.getByText(/answered in/)).toHaveCount(0);
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText(/answered in \d+ ms/)).toBeVisible();
});

test("a new review interrupts, and keys are shown as bound", async ({ home: page, person, skein }) => {
  const process = await person.saying();
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

  // The menu names the status of each alternative.
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

test("a message and a block of code are copied, and the right button or a finger that stays opens the menu of a turn", async ({
  page,
  context,
  person,
  skein,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const { id } = await person.begin("Code");
  const said = "Look:\n\n```js\nconst herons = 2;\n```\n\nThat is all.";
  await person.say(id, said);
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = turns(page).first();
  await turn.getByRole("button", { name: "Copy this code" }).click();
  await expect.poll(clipboard).toBe("const herons = 2;\n");
  await turn.getByText("That is all.").click();
  await page.keyboard.press("y");
  await expect.poll(clipboard).toBe(said);

  const menu = page.getByRole("menu", { name: "This turn" });
  await turn.getByText("That is all.").click({ button: "right" });
  await expect(menu.getByRole("menuitem", { name: /Copy this message/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await page.clock.install();
  const finger = { pointerType: "touch", bubbles: true, clientX: 500, clientY: 200 };
  // It goes on at once, however long the machine takes.
  await turn.getByText("That is all.").evaluate((words, at) => {
    words.dispatchEvent(new PointerEvent("pointerdown", at));
    words.dispatchEvent(new PointerEvent("pointermove", { ...at, clientY: 260 }));
  }, finger);
  await page.clock.runFor(1000);
  await expect(menu).toHaveCount(0);
  await turn.getByText("That is all.").dispatchEvent("pointerdown", finger);
  await page.clock.runFor(1000);
  await expect(menu).toBeVisible();
});

test("a long task shows its progress and a button cancels it", async ({ page, person, skein }) => {
  const process = await person.saying();
  for (let count = 0; count < 5; count++)
    await person.api.heard(
      (event) => event === "review.requested",
      async () => void (await person.run(process.id, { word: `heron ${count}` })),
    );
  await page.goto(`${skein.origin}/review`);
  const inbox = page.getByRole("list", { name: "Inbox" }).getByRole("link");
  await expect(inbox).toHaveCount(5);
  let letGo = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  await answer(page, /\/decide$/, async (route) => {
    await free;
    await route.continue();
  });
  await page.keyboard.press("Shift+x");
  await page.getByRole("button", { name: "Approve 5" }).click();
  await expect(page.getByRole("progressbar", { name: "Deciding" })).toHaveAttribute("aria-valuenow", "0");
  await page.getByRole("button", { name: "Cancel: Deciding" }).click();
  letGo();
  await expect(inbox).toHaveCount(4);
  await expect(page.getByRole("status").filter({ hasText: "1 approved" })).toHaveCount(1);

  // A rotation that takes a while.
  let isCancelled = false;
  const operation = () => ({
    id: "op_1",
    kind: "vault_rotation",
    status: isCancelled ? "cancelled" : "processing",
    progress: 40,
  });
  await answer(page, /\/vault\/rotations$/, (route) =>
    route.fulfill({ status: 202, json: { operationId: "op_1", status: "queued" } }),
  );
  await answer(page, /\/operations\/op_1$/, (route) => route.fulfill({ json: operation() }));
  await answer(page, /\/operations\/op_1\/cancel$/, (route) => {
    isCancelled = true;
    return route.fulfill({ json: operation() });
  });
  await page.goto(`${skein.origin}/settings/vault`);
  await page.getByRole("button", { name: "Rotate the master key" }).click();
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  const bar = page.getByRole("progressbar", { name: "Re-encrypting secrets" });
  await expect(bar).toHaveAttribute("aria-valuenow", /^(39|40)$/);
  await page.getByRole("button", { name: "Cancel: Re-encrypting secrets" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "the rotation was cancelled" })).toBeVisible();
  await expect(bar).toHaveCount(0);
});

test("approving a call of a tool version shows its definition and applies to one run at most", async ({
  page,
  person,
  skein,
}) => {
  const { id: service } = await person.service("Gauge");
  const inputs = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } });
  const drains = { type: "rest_call", method: "DELETE", path: "/level" };
  const tool = await person.level(service, { operation: drains, inputSchema: inputs("river") });
  const reads = { type: "rest_call", method: "GET", path: "/level" };
  const changed = { operation: reads, inputSchema: inputs("lake"), basedOnHash: tool.hash };
  await person.api.put(`/tools/${tool.id}`, changed);
  const { id } = await person.define({
    name: "Drain it",
    initialContext: [],
    steps: [
      {
        id: "drain",
        toolId: tool.id,
        toolVersion: 1,
        inputs: { river: "Aare" },
        output: { variable: "drained" },
        execution: { interactionMode: "manual" },
      },
    ],
    outputTemplate: "{{drained}}",
  } as never);
  await person.api.heard(
    (event) => event === "review.requested",
    async () => void (await person.run(id, {})),
  );
  await page.goto(`${skein.origin}/review`);
  await page.getByRole("link", { name: /Level, version 1/ }).click();
  await expect(page.getByText("may change things")).toBeVisible();
  await expect(page.getByText("only reads")).toHaveCount(0);
  await page.getByRole("button", { name: "Edit" }).first().click();
  await expect(page.getByRole("textbox", { name: /river/i })).toHaveValue("Aare");
  await expect(page.getByRole("option", { name: /in this run$/ })).toHaveCount(2);
  await expect(page.getByRole("option", { name: /always$/ })).toHaveCount(0);
});
