import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { turns, turnWith } from "../support/conversation";
import { expect, task } from "../support/test";

task("read the action history and undo", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Herons");
  const first = await person.say(id, "On 3 March there were eleven herons.");
  await person.edit(first, "On 3 March there were nine herons.", true);
  await page.goto(`${skein.origin}/c/${id}`);
  const turn = turns(page).first();
  await expect(turn).toContainText("nine herons");
  const act = async (entry: RegExp, key?: string) => {
    if (hands.kind === "keyboard" && key) await page.keyboard.press(key);
    else await hands.pick(turn.getByRole("button", { name: "More for this turn" }), entry);
  };
  await act(/Exclude from context/, "x");
  await expect(turn.getByText("excluded")).toBeVisible();
  await act(/Prune this branch/);
  await expect(turn.getByText("pruned")).toBeVisible();

  if (hands.kind === "mouse") await page.getByRole("button", { name: "History" }).click();
  else await page.keyboard.press("Shift+U");
  const log = page.getByRole("dialog", { name: "Action history" });
  const lines = log.getByRole("listitem");
  await expect(lines).toHaveCount(2);
  await expect(lines.first()).toContainText("Pruned");
  await expect(lines.first().getByRole("link")).toContainText("nine herons");
  await expect(lines.nth(1)).toContainText("Excluded from context");
  await expectAccessible(page, "operations");
  await expectAccessibleInDark(page, "operations");
  // Taking back is an act of its own; the one below it can still be taken back.
  await hands.press(lines.first().getByRole("button", { name: "Undo" }));
  await expect(lines).toHaveCount(3);
  await expect(lines.first()).toContainText("Restored");
  await expect(lines.first()).toContainText("settled");
  await expect(lines.nth(2).getByRole("button", { name: "Undo" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(turn.getByText("pruned")).toHaveCount(0);
  await expect(turn.getByText("excluded")).toBeVisible();

  // A key takes back what was done last, and goes on further back.
  await turn.press("[");
  await expect(turnWith(page, "eleven herons")).toHaveCount(1);
  await turns(page).first().press("u");
  await expect(turnWith(page, "nine herons")).toHaveCount(1);
  await turns(page).first().press("u");
  await expect(turn.getByText("excluded")).toHaveCount(0);
  await turns(page).first().press("u");
  await expect(page.getByRole("contentinfo", { name: "Status" })).toContainText("Nothing to undo.");

  // A conversation that was archived comes back.
  await hands.pick(page.getByRole("button", { name: "More for this conversation" }), /Archive/);
  await expect(page.getByText("This conversation is archived.")).toBeVisible();
  await page.locator("body").press("u");
  await expect(page.getByText("This conversation is archived.")).toHaveCount(0);
});

task("delete a tool and a process, and have them back", async ({ page, hands, person, skein }) => {
  const { id: serviceId } = await person.service(`Gauge by ${hands.kind}`);
  const { id } = await person.level(serviceId);
  const status = page.getByRole("contentinfo", { name: "Status" });
  const tool = page.getByRole("link", { name: /^Level/ });
  await page.goto(`${skein.origin}/catalog/tools/${id}`);
  await hands.press(page.getByRole("button", { name: "Delete" }));
  await hands.press(page.getByRole("dialog").getByRole("button", { name: "Delete" }));
  await expect(status).toContainText("Level deleted. Press U to undo.");
  await expect(tool).toHaveCount(0);
  await page.locator("body").press("u");
  await expect(status).toContainText("Undone: Deleted the tool");
  await expect(tool.first()).toBeVisible();
  expect((await person.api.get<{ name: string }>(`/tools/${id}`)).name).toBe("Level");
  // And further back: what had been changed before it was deleted.
  const changed = await person.api.get<{ hash: string }>(`/tools/${id}`);
  await person.api.put(`/tools/${id}`, { name: "Depth", basedOnHash: changed.hash });
  await person.api.delete(`/tools/${id}`);
  for (const undone of ["Deleted the tool", "Changed the tool"]) {
    await page.locator("body").press("u");
    await expect(status).toContainText(`Undone: ${undone}`);
  }
  expect((await person.api.get<{ name: string }>(`/tools/${id}`)).name).toBe("Level");

  const process = await person.saying("auto");
  await page.goto(`${skein.origin}/processes/${process.id}`);
  const more = page.getByRole("button", { name: "More for this process" });
  await hands.pick(more, /Delete/);
  await hands.press(page.getByRole("dialog").getByRole("button", { name: "Delete" }));
  await expect(page).toHaveURL(/\/processes$/);
  await page.goto(`${skein.origin}/processes/${process.id}`);
  await expect(page.getByText("archived", { exact: true })).toBeVisible();
  await hands.pick(more, /Restore/);
  await expect(page.getByText("archived", { exact: true })).toHaveCount(0);

  // Every act stands in the log, what took it back too; what cannot be taken back says why.
  const secret = await person.api.post<{ id: string }>("/secrets", {
    name: "Key of the gauge",
    type: "api_key",
    value: "herons-0123456789",
  });
  await person.api.delete(`/secrets/${secret.id}`);
  if (hands.kind === "mouse") await page.getByRole("button", { name: "History" }).click();
  else await page.keyboard.press("Shift+U");
  const lines = page.getByRole("dialog", { name: "Action history" }).getByRole("listitem");
  await expect(lines.filter({ hasText: "Deleted the secret" })).toContainText(
    "Deleting or replacing a secret destroys its value.",
  );
  await expect(lines.filter({ hasText: "Deleted the secret" }).getByRole("button")).toHaveCount(0);
  const restored = lines.filter({ hasText: "Restored the tool" }).first();
  await expect(restored).toContainText("Level");
  await expect(lines.filter({ hasText: "Deleted the tool" }).first()).toContainText("changed since");
  await expect(lines.filter({ hasText: "Restored the process" })).toContainText(process.name);
  await expectAccessible(page, "operations of the catalog");
  // A restore can be undone from here.
  const back = lines.filter({ hasText: "Restored the process" });
  await hands.press(back.getByRole("button", { name: "Undo" }));
  await expect(lines.first()).toContainText("Deleted the process");
  await expect(lines.first()).toContainText("settled");
});
