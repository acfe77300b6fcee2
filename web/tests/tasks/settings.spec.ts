import { Api } from "../support/api";
import { expect, task } from "../support/test";

task("make an access key, use it, and revoke it", async ({ page, hands, skein }) => {
  await page.goto(`${skein.origin}/settings/access`);
  await hands.write(page.getByRole("textbox", { name: "Name" }), "laptop");
  await hands.choose(page.getByRole("combobox", { name: "Expires" }), "In 30 days");
  await hands.press(page.getByRole("button", { name: "Create key" }));
  const told = page.getByText("Key “laptop”: copy it now. Skein does not show it again.");
  await expect(told).toBeVisible();
  const key =
    (await page
      .locator("form code, form pre")
      .filter({ hasText: /\w{20}/ })
      .first()
      .textContent()) ?? "";
  const asked = () =>
    fetch(`${skein.address}/api/v1/conversations`, { headers: { authorization: `Bearer ${key.trim()}` } });
  expect((await asked()).status).toBe(200);
  await hands.press(page.getByRole("button", { name: "Done" }));
  await expect(told).toHaveCount(0);
  expect(await page.content()).not.toContain(key.trim());
  await expect(page.getByText(/· expires in/)).toBeVisible();

  await hands.press(page.getByRole("button", { name: "Revoke laptop" }));
  const question = page.getByRole("dialog", { name: "Revoke this key?" });
  await hands.press(question.getByRole("button", { name: "Revoke" }));
  await expect(question).toBeHidden();
  await expect(page.getByText("1 revoked")).toBeVisible();
  expect((await asked()).status).toBe(401);
  // The row that was decided about is gone; whoever goes on by keys is not at the top of the page.
  await expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);
});

task("create a user, pass on the link, and change their role", async ({ page, hands, skein, person }) => {
  await page.goto(`${skein.origin}/settings/users`);
  const name = `Ingeborg by ${hands.kind}`;
  await hands.write(page.getByRole("textbox", { name: "Name" }), name);
  await hands.press(page.getByRole("button", { name: "Create user" }));
  await expect(
    page.getByText(`Sign-in link of ${name}: copy it now. Skein does not show it again.`),
  ).toBeVisible();
  const link =
    (await page.locator("form code, form pre").filter({ hasText: "sign-in" }).first().textContent()) ?? "";
  const theirs = await Api.signIn(skein.address, link.trim());
  expect((await theirs.get<{ user: { name: string } }>("/account")).user.name).toBe(name);

  const change = page.getByRole("button", { name: `Edit ${name}` });
  await hands.press(change);
  const dialog = page.getByRole("dialog", { name: `Edit ${name}` });
  await hands.choose(dialog.getByLabel("Role"), "Administrator");
  await hands.write(dialog.getByRole("textbox", { name: "Name" }), `${name}, now head`);
  if (hands.kind === "keyboard") await page.keyboard.press("Enter");
  else await hands.press(dialog.getByRole("button", { name: "Save" }));
  await expect(dialog).toBeHidden();
  const row = page.getByRole("listitem").filter({ hasText: `${name}, now head` });
  await expect(row).toContainText("administrator");
  const { data } = await person.api.get<{ data: { name: string; role: string }[] }>("/users?limit=1000");
  expect(data.find((user) => user.name === `${name}, now head`)?.role).toBe("admin");
});
