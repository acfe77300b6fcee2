// Links in a text: they keep what makes them safe, and none of them changes the account.
import { lastTurn, turns } from "../support/conversation";
import { expect, newcomer, test } from "../support/test";

test("a link in a text opens elsewhere and never leads to sign-in", async ({ page, person, skein }) => {
  const { id } = await person.begin("Links");
  const other = await newcomer(skein, "Mallory");
  const { url } = await other.person.api.post<{ url: string }>("/account/sign-in-links", {});
  const path = new URL(url).pathname;
  await person.say(
    id,
    `[bait](${path}) <${url}> ${url} ![picture](${path}) [out](https://example.org/a)\n\n3. three`,
  );
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page)).toHaveCount(1);
  const links = lastTurn(page).locator(".markdown a");
  await expect(links).toHaveCount(1);
  await expect(links).toHaveAttribute("href", "https://example.org/a");
  await expect(links).toHaveAttribute("rel", "noopener noreferrer");
  await expect(links).toHaveAttribute("target", "_blank");
  await expect(lastTurn(page).locator(".markdown p").first()).toHaveAttribute("dir", "auto");
  await expect(lastTurn(page).locator(".markdown ol")).toHaveAttribute("start", "3");
});

test("a signed-in browser changes its account by a button only, and an ended link explains itself", async ({
  page,
  watch,
  skein,
}) => {
  watch.allow(/status of 410/);
  const path = new URL((await newcomer(skein, "Mallory")).link).pathname;
  const whose = async () =>
    (await (await page.request.get(`${skein.origin}/api/v1/account`)).json()).user.name;
  const before = await whose();
  await page.goto(`${skein.origin}${path}`);
  await expect(page.getByRole("heading")).toHaveText("Sign in as Mallory?");
  expect(await whose()).toBe(before);
  await page.getByRole("button", { name: "Sign in as Mallory" }).click();
  await page.waitForURL(`${skein.origin}/**`);
  await expect.poll(whose).toBe("Mallory");

  // Used up, it says so and how to get another.
  await page.goto(`${skein.origin}${path}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This sign-in link no longer works");
  await expect(page.getByRole("listitem")).toHaveCount(3);
});
