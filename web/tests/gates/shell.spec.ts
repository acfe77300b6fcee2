// Rules of every screen: it loads from this server alone, keys and palette reach everything, history works.
import { rail } from "../../src/routes";
import { expect, test } from "../support/test";

test("the page opens signed in, under its policy, and listens", async ({ page, skein }) => {
  const response = await page.goto(skein.origin);
  const policy = response?.headers()["content-security-policy"] ?? "";
  const parts = policy.split(/; |\n/).filter((part) => !part.startsWith("style-src"));
  expect(parts).toEqual([
    "default-src 'self'",
    "script-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]);
  expect(policy).toMatch(/style-src 'self' 'nonce-[^']+'(;|$)/m);
  await expect(page.getByRole("contentinfo", { name: "Status" })).toContainText("Connected");
});

test("the rail leads to every place, and back is back", async ({ home: page }) => {
  for (const { label, href } of rail) {
    await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: label, exact: false })
      .first()
      .click();
    await expect(page).toHaveURL((url) => url.pathname === href);
    await expect(page.locator("h1").first()).toBeVisible();
  }
  for (const { href } of rail.slice(0, -1).reverse()) {
    await page.goBack();
    await expect(page).toHaveURL((url) => url.pathname === href);
  }
});

test("the palette and the help are there by keys", async ({ home: page }) => {
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("go to runs");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs$/);
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await expect(help).toBeVisible();
  await expect(help).toContainText("Open the command palette");
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
});

test("a browser that is not signed in is told how, and comes in by the link", async ({
  context,
  newcomer,
  skein,
  watch,
}) => {
  watch.allow(/status of (401|410)/);
  const page = await context.newPage();
  await page.goto(`${skein.origin}/conversations`);
  await expect(page.getByText("This browser is not signed in")).toBeVisible();
  await page.getByLabel("Or paste it").fill(newcomer.link);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.goto(newcomer.link);
  await expect(page.getByText(/used|no longer|expired|once/i).first()).toBeVisible();
});
