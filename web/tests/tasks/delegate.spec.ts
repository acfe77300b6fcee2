// Two people and one question: it is put into another's hands, taken back, and decided there.
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { listening } from "../support/conversation";
import { expect, newcomer, signIn, task } from "../support/test";
import { Watch } from "../support/watch";

task(
  "delegate a decision, withdraw it, and have the delegate decide",
  async ({ browser, home: page, hands, person, skein, watch: own }) => {
    const name = `Ben by ${hands.kind}`;
    const { person: ben } = await newcomer(skein, name);
    const theirs = await browser.newContext({ reducedMotion: "reduce" });
    const watch = new Watch(theirs, skein.origin);
    await signIn(theirs, skein, ben.api);
    const bens = await theirs.newPage();
    await bens.goto(`${skein.origin}/review`);
    await expect(bens.getByText("No open reviews").first()).toBeVisible();
    await listening(bens);

    let run = "";
    const process = (await person.saying()).id;
    await person.api.heard(
      (event) => event === "review.requested",
      async () => void (run = await person.run(process, { word: "heron" })),
    );
    await hands.go("Review");
    const inbox = page.getByRole("list", { name: "Inbox" });
    await hands.press(inbox.getByRole("link", { name: /heron/ }));
    const decision = page.getByRole("region", { name: "Decision" });
    const give = decision.getByRole("button", { name: /^Delegate/ });
    await expect(give).toContainText("G");
    const sheet = page.getByRole("dialog", { name: "Delegate the decision" });
    const ask = async (whom: string) => {
      await hands.act(give, "g");
      await hands.write(sheet.getByLabel("User"), whom);
      await hands.press(sheet.getByRole("button", { name: "Delegate" }));
    };
    // Nobody is called that: what was typed stays, and what to do is said.
    own.allow(/status of 422/);
    await ask("Nobody at all");
    await expect(sheet).toContainText("BR-STEP-006");
    await expect(sheet.getByLabel("User")).toHaveValue("Nobody at all");
    await expectAccessible(page, "whom to ask");
    await hands.press(sheet.getByRole("button", { name: "Cancel" }));

    await ask(name);
    await expect(decision).toContainText(`Delegated to ${name}`);
    await expect(inbox.getByRole("link")).toContainText(`${name} was asked`);

    // It comes into Ben's inbox by itself: the question, and no way to the run.
    const his = bens.getByRole("region", { name: "Decision" });
    const row = bens.getByRole("list", { name: "Inbox" }).getByRole("link");
    await expect(row).toContainText("Ada asks you");
    await row.click();
    await expect(his).toContainText("Ada asks you to decide");
    await expect(his).toContainText("heron");
    await expect(his.getByRole("link", { name: "this run" })).toHaveCount(0);
    await expect(his.getByRole("button", { name: /^Delegate/ })).toHaveCount(0);
    await expectAccessible(bens, "a review of another user");
    await expectAccessibleInDark(bens, "a review of another user");

    await hands.press(decision.getByRole("button", { name: "Withdraw" }));
    await expect(his).toContainText("no longer yours to decide");
    await expect(bens.getByRole("main")).not.toContainText("heron");
    await expect(decision).not.toContainText("Delegated to");

    await ask(name);
    await expect(his).toContainText("Ada asks you to decide");
    const reach = his.getByLabel("Applies to").locator("option");
    await expect(reach).toHaveText([
      "This call only",
      "These arguments, in this run",
      "This tool, in this run",
    ]);
    await his.getByRole("button", { name: /^Approve/ }).click();
    await expect(bens.getByText("No open reviews").first()).toBeVisible();
    await expect(decision).toContainText(`${name} decided. Approved.`);
    expect((await person.api.ended(run)).output).toBe("heron");
    expect(watch.wrong).toEqual([]);
    await theirs.close();
  },
);
