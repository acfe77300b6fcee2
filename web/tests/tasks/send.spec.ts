import { expect, task } from "../support/test";
import { answered, composer, lastTurn, send, turns } from "../support/conversation";

task("send and get a streamed answer from the offline model", async ({ page, hands, person, skein }) => {
  const { id } = await person.begin("Notes");
  await page.goto(`${skein.origin}/c/${id}`);
  await composer(page).waitFor();
  const streamed = page.waitForRequest((request) => /\/executions\/[^/]+\/stream/.test(request.url()));
  await send(hands, page, "The hide at the inlet was finished on 7 March.");
  await streamed;
  await answered(page, 2);
  await send(hands, page, "When was the hide finished?");
  await answered(page, 4);
  await expect(lastTurn(page)).toContainText("7 March");
  await expect(turns(page).nth(2)).toContainText("When was the hide finished?");
});
