import type { Person } from "../support/person";
import { expect, task } from "../support/test";

/** Begins a run, and waits until somebody is asked about it. */
async function asks(person: Person, process: string, word: string): Promise<string> {
  let run = "";
  await person.api.heard(
    (event) => event === "review.requested",
    async () => void (run = await person.run(process, { word })),
  );
  return run;
}

task("decide several at once", async ({ home: page, hands, person }) => {
  const process = (await person.saying()).id;
  const runs = [];
  for (const word of ["heron", "stork", "crane"]) runs.push(await asks(person, process, word));
  await hands.go("Review");
  const inbox = page.getByRole("list", { name: "Inbox" });
  await expect(inbox.getByRole("link")).toHaveCount(3);

  const several = page.getByRole("group", { name: "Bulk decision" });
  if (hands.kind === "mouse") {
    await several.getByRole("checkbox").click();
    await inbox.getByRole("checkbox", { name: /crane/ }).click();
  } else {
    await page.keyboard.press("Shift+x");
    await expect(several).toContainText("3 of 3 selected");
    await hands.press(inbox.getByRole("checkbox", { name: /crane/ }));
  }
  await expect(several).toContainText("2 of 3 selected");
  await hands.act(several.getByRole("button", { name: "Approve 2" }), "Shift+a");
  await expect(inbox.getByRole("link")).toHaveCount(1);
  for (const run of runs.slice(0, 2)) expect((await person.api.ended(run)).status).toBe("completed");

  if (hands.kind === "mouse") await inbox.getByRole("checkbox").click();
  else await page.keyboard.press("x");
  await hands.act(several.getByRole("button", { name: "Deny 1…" }), "Shift+d");
  const sheet = page.getByRole("dialog", { name: "Deny 1?" });
  await hands.write(sheet.getByRole("textbox", { name: "Reason" }), "enough birds");
  await hands.press(sheet.getByRole("button", { name: "Deny", exact: true }));
  await expect(page.getByText("No open reviews").first()).toBeVisible();
  expect(JSON.stringify((await person.api.ended(runs[2] ?? "")).error)).toContain("enough birds");
});

task("approve a tool for good, and revoke that", async ({ home: page, hands, person }) => {
  const process = (await person.saying()).id;
  await asks(person, process, "heron");
  await hands.go("Review");
  await hands.press(page.getByRole("list", { name: "Inbox" }).getByRole("link", { name: /heron/ }));
  const decision = page.getByRole("region", { name: "Decision" });
  if (hands.kind === "keyboard") {
    await expect(decision.getByRole("button", { name: /^Approve/ })).toBeVisible();
    await page.keyboard.press("s");
  }
  await hands.choose(decision.getByLabel("Applies to"), "This tool, always");
  await expect(decision).toContainText("until you revoke this or the tool changes");
  await hands.press(decision.getByRole("button", { name: /^Approve/ }));
  await expect(page.getByText("No open reviews").first()).toBeVisible();

  const second = await person.run(process, { word: "stork" });
  expect((await person.api.ended(second)).output).toBe("stork");

  await hands.press(page.getByRole("button", { name: "Standing approvals" }));
  const sheet = page.getByRole("dialog", { name: "Standing approvals" });
  await expect(sheet.getByRole("listitem")).toContainText("Echo");
  await hands.press(sheet.getByRole("button", { name: "Revoke Echo" }));
  await expect(sheet).toContainText("Every call that requires approval asks you.");
  await hands.press(sheet.getByRole("button", { name: "Done" }));
  await asks(person, process, "crane");
  await expect(page.getByRole("list", { name: "Inbox" }).getByRole("link")).toContainText("crane");
});
