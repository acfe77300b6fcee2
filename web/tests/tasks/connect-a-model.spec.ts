import { LITELLM } from "../support/peers";
import { expect, task, test } from "../support/test";
import { composer, lastTurn, send } from "../support/conversation";

// One worker for both: the server takes long to start.
test.describe.configure({ mode: "default" });

task(
  "connect a model behind a server written by others, and use it",
  async ({ home: page, hands, person, litellm }) => {
    await person.refuse(litellm);
    await hands.go("Catalog");
    await hands.press(page.getByRole("link", { name: "Connect a model" }).first());
    const server = page.getByRole("radio", { name: "OpenAI-compatible models on this machine or network" });
    await hands.press(server);
    await hands.write(page.getByLabel("Address"), `${litellm.endpoint}/v1`);
    await hands.write(page.getByRole("combobox", { name: "Model" }), LITELLM.model);
    await hands.write(page.getByLabel(/^API key/), LITELLM.key);

    // Nothing is called before somebody says so.
    await hands.press(page.getByRole("button", { name: "Connect and test" }));
    await expect(page.getByText("Tick this to continue")).toBeVisible();
    await hands.press(page.getByRole("checkbox", { name: /^Allow services to call/ }));
    await hands.press(page.getByRole("button", { name: "Connect and test" }));
    const answers = page.getByRole("region", { name: "The model answers" });
    await expect(answers).toContainText(LITELLM.answer);

    // The first model that is connected becomes the default.
    await expect(answers).toContainText(`Chat with ${LITELLM.model} answers in new conversations.`);
    await hands.press(answers.getByRole("button", { name: "Start a conversation with it" }));
    await expect(page).toHaveURL(/\/c\//);
    await composer(page).waitFor();
    await send(hands, page, "When is the launch?");
    await expect(lastTurn(page)).toContainText(LITELLM.answer);
  },
);
