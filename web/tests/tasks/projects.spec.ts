import { expect, task } from "../support/test";
import { composer } from "../support/conversation";

task(
  "create a project, start a conversation in it, and switch back",
  async ({ page, hands, person, skein }) => {
    const { id: earlier } = await person.begin("Of before");
    await person.say(earlier, "Two herons.");
    await page.goto(skein.origin);
    const list = page.getByRole("main");
    await expect(list.getByText("Of before").first()).toBeVisible();
    const at = page.getByRole("button", { name: /▾/ });
    // Conversations are there before it is known of which project they are.
    const projects = () => person.api.get<{ data: { id: string; name: string }[] }>("/projects");
    const before = (await projects()).data[0]?.name ?? "";
    await expect(at).toHaveText(`${before} ▾`);
    await hands.pick(at, "New project…");
    const dialog = page.getByRole("dialog", { name: "New project" });
    await hands.write(dialog.getByRole("textbox", { name: "Name" }), "Lakes");
    if (hands.kind === "keyboard") await page.keyboard.press("Enter");
    else await hands.press(dialog.getByRole("button", { name: "Create", exact: true }));
    await expect(dialog).toBeHidden();
    await expect(at).toHaveText(/Lakes/);
    await expect(at).toBeFocused();
    await expect(list.getByText("Of before")).toHaveCount(0);

    await hands.act(page.getByRole("button", { name: "New conversation" }).first(), "c");
    await composer(page).waitFor();
    await expect(page).toHaveURL(/\/c\//);
    const id = /\/c\/([^/?]+)/.exec(page.url())?.[1] ?? "";
    const made = await person.api.get<{ projectId?: string }>(`/conversations/${id}`);
    expect(made.projectId).toBe((await projects()).data.find(({ name }) => name === "Lakes")?.id);

    await hands.go("Home");
    await expect(at).toHaveText(/Lakes/);
    if (hands.kind === "keyboard") {
      await hands.press(at);
      const entry = page.getByRole("menuitemradio", { name: before });
      await entry.waitFor();
      await page.keyboard.press("Home");
      await expect(page.getByRole("menuitemradio").first()).toBeFocused();
      while (!(await entry.evaluate((one) => one === document.activeElement)))
        await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
    } else {
      await at.click();
      await page.getByRole("menuitemradio", { name: before }).click();
    }
    await expect(list.getByText("Of before").first()).toBeVisible();
  },
);
