import type { Schemas } from "../support/api";
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { expect, task } from "../support/test";

type Run = Schemas["WholeExecutionView"];

task(
  "pause a run, see that no further step starts, and continue it",
  async ({ home: page, person, hands, skein }) => {
    const say = async (id: string, interactionMode: string) => ({
      id,
      toolId: await person.tool("Echo"),
      inputs: { value: `${id} {word}` },
      output: { variable: id },
      execution: { interactionMode },
    });
    const process = await person.define({
      name: "Say it thrice",
      initialContext: ["word"],
      steps: [await say("first", "manual"), await say("then", "auto"), await say("last", "auto")],
      outputTemplate: "{{last.value}}",
    } as unknown as Schemas["ProcessBody"]);
    const id = await person.run(process.id, { word: "heron" });
    const beside = await page.context().newPage();
    await beside.goto(`${skein.origin}/runs/${id}`);
    await expect(beside.getByRole("heading", { name: "Say it thrice", level: 1 })).toBeVisible();

    // In the list: by its key, or where it is open by its button.
    await hands.go("Runs");
    const row = page.getByRole("link", { name: /Say it thrice/ });
    await expect(row).toContainText("waiting for you");
    if (hands.kind === "keyboard") {
      await page.keyboard.press("j");
      await expect(row).toBeFocused();
      await page.keyboard.press("Space");
      await expect(row).toContainText("paused");
      await expect(row).toBeFocused();
    }
    await hands.press(row);
    const goOn = page.getByRole("button", { name: /^Continue/ });
    if (hands.kind === "mouse") await hands.press(page.getByRole("button", { name: /^Pause/ }));
    await expect(goOn).toBeVisible();
    await expect(page.getByText("This run is paused.")).toBeVisible();
    await expect(beside.getByText("This run is paused.")).toBeVisible();
    await expectAccessible(page, "a paused run");
    await expectAccessibleInDark(page, "a paused run");

    // A person still decides; what they let through waits, though another run comes to its end.
    const { reviewIds } = await person.api.get<Run>(`/executions/${id}`);
    await person.api.post(`/reviews/${reviewIds[0]}/decide`, { decision: "approve" });
    const trace = page.getByRole("tree", { name: "Trace" });
    await expect(trace.getByRole("treeitem", { name: /^first.*waiting: paused/ })).toBeVisible();
    await person.api.ended(await person.run((await person.saying("auto")).id, { word: "stork" }));
    expect((await person.api.get<Run>(`/executions/${id}`)).calls).toHaveLength(0);

    // Space on a button presses that; elsewhere it is the run's, and the page stays where it is.
    const tab = page.getByRole("tab", { name: "Log" });
    if (hands.kind === "keyboard") {
      await tab.focus();
      await page.keyboard.press("Space");
      await expect(page.getByRole("log", { name: "Log of the run" })).toBeVisible();
      await expect(goOn).toBeVisible();
      await page.getByRole("region", { name: "Details" }).focus();
    }
    await hands.act(goOn, "Space");
    await expect(page.getByText("last heron").first()).toBeVisible();
    await expect(beside.getByText("last heron").first()).toBeVisible();
    await expect(page.getByText("This run is paused.")).toBeHidden();
    await expect(page.getByRole("button", { name: /^Pause/ })).toBeHidden();
    expect(await page.evaluate(() => document.scrollingElement?.scrollTop)).toBe(0);
  },
);
