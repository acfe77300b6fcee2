import { turns } from "../support/conversation";
import { expect, task } from "../support/test";
import { TOLD, ToldModel } from "../support/scripted-model";

task("have a process make one answer of two", async ({ page, hands, person, skein }) => {
  const model = await ToldModel.start();
  const process = await person.modelProcess("Told", model, TOLD);
  const { id } = await person.begin("Herons", { processId: process.id });
  await person.say(id, "How many herons were there?");
  const answers = person.answered(id, ["Told"], 2);
  for (const words of ["Eleven at the north shore.", "Nine at the south shore."]) {
    const saying = await model.asked();
    saying.say(words);
    saying.end();
  }
  const [first, second] = await answers;
  await page.goto(`${skein.origin}/compare?nodes=${first?.id},${second?.id}`);
  await expect(page.getByRole("main").locator("ins").first()).toBeVisible();

  await hands.act(page.getByRole("button", { name: "Fuse…" }), "f");
  const sheet = page.getByRole("dialog", { name: "Fuse answers" });
  await expect(sheet.getByRole("checkbox")).toHaveCount(2);
  await hands.press(sheet.getByRole("button", { name: "Fuse answers" }));
  const fusing = await model.asked();
  const told = fusing.messages.map(({ content }) => content).join("\n");
  expect(told).toContain("How many herons were there?");
  expect(told).toContain("Eleven at the north shore.");
  expect(told).toContain("Nine at the south shore.");
  fusing.say("Eleven at the north shore and nine at the south shore.");
  fusing.end();
  await expect(page.getByRole("region", { name: "Text of 3" })).toContainText("south shore");

  await hands.press(page.getByRole("link", { name: "Open the conversation" }));
  await expect(turns(page).nth(1)).toContainText("Eleven at the north shore and nine at the south shore.");
  await expect(turns(page).nth(1)).toContainText("3/3");
  await model.stop();
});
