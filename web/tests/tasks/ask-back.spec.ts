// A model wants a call, and a person wants to know something before they decide about it.
import { expectAccessible } from "../support/axe";
import { TOLD, ToldModel } from "../support/scripted-model";
import { expect, task } from "../support/test";

task(
  "ask a model back before deciding about a call it wants",
  async ({ home: page, hands, person, skein }) => {
    const model = await ToldModel.start();
    const tools = [{ toolId: await person.tool("Echo"), approval: "always" }];
    const process = await person.modelProcess("Looks it up", model, TOLD, tools);
    const { id } = await person.begin("Herons");
    await person.say(id, "How many herons are there?");
    const { answers } = await person.api.post<{ answers: { executionId: string }[] }>(
      `/conversations/${id}/turns`,
      { speaker: "agent", parentAlternativeId: await person.end(id), processIds: [process.id] },
    );
    const first = await model.asked();
    await person.api.heard(
      (event) => event === "review.requested",
      async () => first.wish("echo", { value: "grey herons" }),
    );

    await hands.go("Review");
    const inbox = page.getByRole("list", { name: "Inbox" });
    await hands.press(inbox.getByRole("link", { name: /grey herons/ }));
    const decision = page.getByRole("region", { name: "Decision" });
    const back = decision.getByRole("button", { name: /^Ask the model/ });
    await expect(back).toContainText("Q");
    await hands.act(back, "q");
    const send = decision.getByRole("button", { name: "Send question" });
    await hands.press(send);
    await expect(decision.getByText("is required")).toBeVisible();
    await expectAccessible(page, "asking back");
    await hands.write(decision.getByLabel("Question for the model"), "Of which lake?");
    await hands.press(send);

    // The model hears it in place of a result, and asks for another call: a new question.
    const second = await model.asked();
    expect(second.messages.at(-1)).toMatchObject({ role: "tool" });
    expect(second.messages.at(-1)?.content).toContain("Of which lake?");
    second.wish("echo", { value: "herons of the north lake" });
    await hands.press(inbox.getByRole("link", { name: /north lake/ }));
    await hands.act(decision.getByRole("button", { name: /^Approve/ }), "a");
    const last = await model.asked();
    expect(last.messages.at(-1)?.content).toContain("herons of the north lake");
    last.say("Eleven.");
    last.end();
    expect((await person.api.ended(answers[0]?.executionId ?? "")).output).toBe("Eleven.");

    await page.goto(`${skein.origin}/review?all=1`);
    await hands.press(inbox.getByRole("link", { name: /grey herons/ }));
    await expect(decision).toContainText("Question to the model: Of which lake?");
    await model.stop();
  },
);
