// Home tells how the installation is: what was found, what is wrong and why, and what could not be asked.
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { answer, held } from "../support/held-requests";
import { expect, test } from "../support/test";

test("Home shows the health of the parts and the cause of a failure", async ({ page, skein }) => {
  await answer(page, "**/api/v1/index", async (route) => {
    const answer = await route.fetch();
    const index = (await answer.json()) as object;
    await route.fulfill({ json: { ...index, failure: "the disk is full" } });
  });
  await page.goto(skein.origin);
  const health = page.getByRole("list", { name: "Health" });
  await expect(health).toContainText("Server connected");
  await expect(health).toContainText(/\d+ workers?, (idle|\d+ busy)/);
  await expect(health).toContainText("Memory cannot be indexed: the disk is full");
  await expect(health).toContainText(/model service/i);
  await expect(page.getByRole("button", { name: "Check again" })).toHaveCount(0);
  await expectAccessible(page, "health");
  await expectAccessibleInDark(page, "health");
});

test("a failed health check shows unknown until it is repeated", async ({ page, skein, watch }) => {
  watch.allow(/status of 500/);
  const error = { code: "internal", message: "out of order", details: {}, correlationId: "fedcba9876543210" };
  await answer(page, /\/api\/v1\/(workers|services)(\?|$)/, (route) =>
    route.fulfill({ status: 500, json: { error } }),
  );
  await page.goto(skein.origin);
  const health = page.getByRole("list", { name: "Health" });
  await expect(health).toContainText("Workers: unknown");
  await expect(health).toContainText("Model services: unknown");
  await expect(health).toContainText(/Memory \w/);
  await expectAccessible(page, "health that is not known");
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Check again" }).press("Enter");
  await expect(health).toContainText(/\d+ workers?, /);
  await expect(health).not.toContainText("unknown");
});

test("Home fetches its main data before the health of the parts", async ({ page, person, skein }) => {
  await person.say((await person.begin("Herons")).id, "Two herons.");
  // The screen that is there already would ask again when it hears of that.
  await page.goto("about:blank");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname.replace("/api/v1", "")));
  const list = await held(page, /\/api\/v1\/conversations\?/, "GET");
  const projects = page.waitForResponse(/\/api\/v1\/projects/);
  await page.goto(skein.origin);
  await list.made;
  // It does not wait for the projects either, and is not asked for twice when there is one.
  await projects;
  expect(asked).not.toContain("/workers");
  list.letGo();
  await expect(page.getByRole("list", { name: "Health" })).toContainText(/\d+ workers?, /);
  expect(asked.filter((path) => path === "/conversations")).toHaveLength(1);
});
