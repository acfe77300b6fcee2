// Every screen, empty, filled, loading and failing: readable by everybody, at every size, without a word on the console.
import type { Page } from "@playwright/test";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { expectUsableAt } from "../support/reflow";
import { screens } from "../support/screens";
import { answer } from "../support/held-requests";
import { expect, test } from "../support/test";

const KEPT = /\/api\/v1\/(account|events)/;

/** Holds back what a screen asks for, until it is told to refuse it. */
async function heldBack(page: Page): Promise<() => void> {
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => (refuse = resolve));
  await answer(page, /\/api\/v1\//, async (route) => {
    if (KEPT.test(route.request().url())) return route.continue();
    await refused;
    const error = {
      code: "internal",
      message: "the store could not be read",
      details: {},
      correlationId: "0123456789abcdef",
      retryable: false,
    };
    await route.fulfill({ status: 500, json: { error } });
  });
  return refuse;
}

for (const screen of screens) {
  test(screen.name, async ({ told, story, skein, watch }) => {
    await told.goto(skein.origin + screen.filled(story));
    if (screen.shows) await expect(screen.shows(told, story).first()).toBeVisible();
    await watch.settled(told, { showsLoading: screen.asksNothing });
    await expectAccessible(told, "filled");
    await expectAccessibleInDark(told, "filled");
    await expectUsableAt(told, 320, 640, "filled");
    // 1280 × 800 at 200 %.
    await expectUsableAt(told, 640, 400, "filled");

    if (screen.asksNothing) return;
    watch.allow(/status of 500/);
    const refuse = await heldBack(told);
    await told.reload();
    await expect(told.locator("[aria-busy=true]").first()).toBeAttached();
    await expectAccessible(told, "loading");
    await expectAccessibleInDark(told, "loading");
    refuse();
    await expect(told.getByRole("alert").first()).toBeVisible();
    await expect(told.getByRole("alert").first()).toContainText("the store could not be read");
    await expect(told.locator("[aria-busy=true]")).toHaveCount(0);
    await expectAccessible(told, "failing");
    await expectAccessibleInDark(told, "failing");
    await expectUsableAt(told, 320, 640, "failing");
  });

  const { empty } = screen;
  if (empty === undefined) continue;
  test(`${screen.name}, empty`, async ({ untold, skein, watch }) => {
    await untold.goto(skein.origin + empty);
    await watch.settled(untold);
    await expectAccessible(untold, "empty");
    await expectAccessibleInDark(untold, "empty");
    await expectUsableAt(untold, 320, 640, "empty");
    await expectUsableAt(untold, 640, 400, "empty");
  });
}

test("a conversation in which nothing was said, empty", async ({ page, person, skein, watch }) => {
  const { id } = await person.begin("Nothing yet");
  for (const place of ["", "/map", "?pane=node", "?pane=context", "?pane=provenance"]) {
    await page.goto(`${skein.origin}/c/${id}${place}`);
    await watch.settled(page);
    await expectAccessible(page, `empty ${place}`);
    await expectAccessibleInDark(page, `empty ${place}`);
    await expectUsableAt(page, 320, 640, `empty ${place}`);
  }
});

test("a place that is not there says so and leads back", async ({ told, skein }) => {
  await told.goto(`${skein.origin}/nowhere/at/all`);
  await expect(told.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await told.getByRole("link", { name: "Go to Home" }).click();
  await expect(told).toHaveURL(`${skein.origin}/`);
});
