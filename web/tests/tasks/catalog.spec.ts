// The catalog besides tool calls: sharing, secrets, templates.
import { newcomer, signIn } from "../support/test";
import { expect, task } from "../support/test";

task("share a service, and share it no longer", async ({ page, hands, person, skein, browser }) => {
  const { id, name } = await person.service(`Gauge by ${hands.kind}`);
  const { person: other } = await newcomer(skein, "Rosa");
  const context = await browser.newContext();
  await signIn(context, skein, other.api);
  const theirs = await context.newPage();
  await theirs.goto(`${skein.origin}/catalog/services`);
  await expect(theirs.getByRole("link", { name: /./ }).first()).toBeVisible();
  await expect(theirs.getByRole("link", { name: new RegExp(name) })).toHaveCount(0);

  await page.goto(`${skein.origin}/catalog/services/${id}`);
  await hands.press(page.getByRole("tab", { name: "Sharing" }));
  const shared = page.getByRole("switch", { name: "Shared with all users here" });
  await hands.press(shared);
  await expect(shared).toBeChecked();
  await theirs.reload();
  await theirs.getByRole("link", { name: new RegExp(name) }).click();
  await expect(theirs.getByText("shared by another user")).toBeVisible();
  await expect(theirs.getByRole("tab", { name: "Sharing" })).toHaveCount(0);
  await other.level(id);

  await hands.press(shared);
  await expect(shared).not.toBeChecked();
  const warning = page.getByText("1 tool of theirs");
  await expect(warning).toBeVisible();
  await theirs.reload();
  await expect(theirs.getByText("shared by another user")).toHaveCount(0);
  await hands.press(page.getByRole("button", { name: "Share again" }));
  await expect(shared).toBeChecked();
  await expect(warning).toHaveCount(0);
  await context.close();
});

task(
  "put a secret into the vault, replace it, and delete it",
  async ({ page, hands, watch, person, skein }) => {
    watch.allow(/status of 409/);
    await page.goto(`${skein.origin}/catalog/secrets`);
    await hands.press(page.getByRole("link", { name: "New secret" }).first());
    await hands.press(page.getByRole("button", { name: "Store in the vault" }));
    await expect(page.getByRole("textbox", { name: "Name" })).toHaveAttribute("aria-invalid", "true");
    await expect(page.getByRole("textbox", { name: "Name" })).toBeFocused();
    await hands.write(page.getByRole("textbox", { name: "Name" }), "Key of the gauge");
    const value = page.getByLabel("Value").or(page.getByLabel(/key/i)).and(page.locator("input")).last();
    await hands.write(value, "herons-0123456789");
    await hands.press(page.getByRole("button", { name: "Store in the vault" }));
    await expect(page.getByRole("heading", { name: "Key of the gauge" })).toBeVisible();
    await expect(page.getByText("value 1")).toBeVisible();
    expect(await page.content()).not.toContain("herons-0123456789");
    expect(JSON.stringify(await page.evaluate(() => ({ ...localStorage })))).not.toContain(
      "herons-0123456789",
    );

    await hands.write(value, "storks-0123456789");
    await hands.press(page.getByRole("button", { name: "Replace value" }));
    await expect(
      page.getByText("The value was replaced. The previous value is destroyed.").first(),
    ).toBeVisible();
    await expect(page.getByText("value 2")).toBeVisible();
    await expect(value).toHaveValue("");

    const secret = /secrets\/([^/?]+)/.exec(page.url())?.[1] ?? "";
    const { id: serviceId } = await person.service("Gauge");
    const tool = await person.level(serviceId, { secretId: secret });
    await expect(page.getByRole("link", { name: "Level" })).toBeVisible();
    await hands.press(page.getByRole("button", { name: "Delete" }));
    const question = page.getByRole("dialog", { name: "Delete this secret?" });
    await hands.press(question.getByRole("button", { name: "Delete" }));
    await expect(question.getByRole("alert")).toBeVisible();
    await person.api.delete(`/tools/${tool.id}`);
    await hands.press(question.getByRole("button", { name: "Delete" }));
    await expect(question).toBeHidden();
    await expect(page).toHaveURL(/\/catalog\/secrets$/);
    await expect(page.getByRole("link", { name: /Key of the gauge/ })).toHaveCount(0);
  },
);

task(
  "create a template, create a service from it, archive and restore it",
  async ({ page, hands, skein }) => {
    await page.goto(`${skein.origin}/catalog/service-templates`);
    const name = `Gauges by ${hands.kind}`;
    await hands.press(page.getByRole("link", { name: /^New .*template/ }).first());
    await hands.write(page.getByRole("textbox", { name: "Name", exact: true }), name);
    await hands.press(page.getByRole("button", { name: "Create template" }));
    await expect(page.getByRole("heading", { name })).toBeVisible();
    const template = page.url();
    await hands.press(page.getByRole("link", { name: "Create a service from it" }));
    await hands.write(page.getByRole("textbox", { name: "Name", exact: true }), "North gauge");
    await expect(page.getByLabel("Template", { exact: true }).locator("option:checked")).toHaveText(name);
    await hands.press(page.getByRole("button", { name: "Create service" }));
    await expect(page.getByRole("heading", { name: "North gauge" })).toBeVisible();

    await page.goto(template);
    await hands.press(page.getByRole("tab", { name: /Created from it/ }));
    await expect(page.getByRole("tabpanel").getByRole("link", { name: "North gauge" })).toBeVisible();
    await hands.press(page.getByRole("button", { name: "Archive" }));
    await expect(page.getByText("archived", { exact: true }).first()).toBeVisible();
    await expect(page.getByRole("link", { name: "Create a service from it" })).toHaveCount(0);
    await hands.press(page.getByRole("button", { name: "Restore" }));
    await expect(page.getByRole("link", { name: "Create a service from it" })).toBeVisible();
  },
);

task("look at the versions of a tool and go back to one", async ({ page, hands, person, skein }) => {
  const { id: serviceId } = await person.service(`Gauge by ${hands.kind}`);
  const tool = await person.level(serviceId);
  await person.api.put(`/tools/${tool.id}`, { name: "Depth", basedOnHash: tool.hash });
  await page.goto(`${skein.origin}/catalog/tools/${tool.id}`);
  await expect(page.getByRole("heading", { name: "Depth" })).toBeVisible();
  if (hands.kind === "keyboard") await page.keyboard.press("v");
  else await page.getByRole("tab", { name: /History/ }).click();
  const versions = page.getByRole("list", { name: "Versions, newest first" });
  await hands.press(versions.locator("summary").filter({ hasText: "Version 1" }));
  await hands.press(versions.getByRole("button", { name: "Go back to version 1" }));
  await expect(page.getByRole("heading", { name: "Level" })).toBeVisible();
  await expect(versions.getByText("Version 3", { exact: true })).toBeVisible();
  await page.locator("body").press("u");
  await expect(page.getByRole("heading", { name: "Depth" })).toBeVisible();
});
