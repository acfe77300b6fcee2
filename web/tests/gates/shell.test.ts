import { expect, test } from "../support/server";

test("the page opens signed in, without a complaint, and from this server alone", async ({
  page,
  server,
  complaints,
}) => {
  const elsewhere: string[] = [];
  page.on("request", (request) => !request.url().startsWith(server.url) && elsewhere.push(request.url()));
  const response = await page.goto("/");
  expect(response?.headers()["content-security-policy"]).toContain("script-src 'self'");
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await expect(page.getByText("Connected")).toBeVisible();
  for (const path of ["/conversations", "/catalogue", "/runs", "/settings/keys", "/dev/components"]) {
    await page.goto(path);
    await expect(page.locator("h1").first()).toBeVisible();
  }
  expect(complaints).toEqual([]);
  expect(elsewhere).toEqual([]);
});

test("the palette and the keys go everywhere", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("go to runs");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs$/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
});

test("a browser that is not signed in is told how", async ({ browser, server }) => {
  const context = await browser.newContext({ baseURL: server.url });
  const page = await context.newPage();
  await page.goto("/c/entity_1");
  await expect(page.getByText("This browser is not signed in yet")).toBeVisible();
  await page.getByLabel("Or paste it").fill(await server.link());
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await context.close();
});
