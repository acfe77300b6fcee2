// Conversations whose model says what a test tells it.
import { test as base } from "./test";
import { TOLD, ToldModel } from "./scripted-model";

export { expect } from "./test";
export const test = base.extend<{ model: ToldModel; conversation: string }>({
  model: async ({}, use) => {
    const model = await ToldModel.start();
    await use(model);
    await model.stop();
  },
  conversation: async ({ person, model }, use) => {
    const process = await person.modelProcess("Told", model, TOLD);
    const { id } = await person.begin("A stream", { processId: process.id });
    await use(id);
  },
});
