// Every answer says what it used and which tools were called for it, and a long conversation asks for that together.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Schemas } from "../support/api";
import { Mouse } from "../support/hands";
import { answered, send, turnWith } from "../support/conversation";
import { expect, test } from "../support/scripted-conversation";
import { TOLD } from "../support/scripted-model";

test("an answer tells its tokens and its calls, a line each", async ({ page, person, skein }) => {
  // A service of this machine that knows the level of one day, and fails for others.
  const gauge = createServer((request, response) => {
    response.statusCode = request.url?.includes("bad") ? 500 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ level: 1.42 }));
  });
  await new Promise<void>((resolve) => gauge.listen(0, "127.0.0.1", resolve));
  const at = { host: "127.0.0.1", port: (gauge.address() as AddressInfo).port };
  await person.allow(at);
  const service = await person.service("Gauge", "http");
  const tool = await person.api.post<{ id: string }>("/tools", {
    name: "Water level",
    serviceId: service.id,
    connectionParams: { endpoint: `http://127.0.0.1:${at.port}` },
    operation: { type: "rest_call", method: "GET", path: "/levels/{{day}}" },
    inputSchema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
    outputSchema: {},
  });
  const step = (id: string, day: string) => ({
    id,
    toolId: tool.id,
    inputs: { day },
    output: { variable: id, required: false },
  });
  const process = await person.define({
    name: "Level",
    initialContext: ["message"],
    steps: [step("good", "today"), step("bad", "bad")],
    outputTemplate: "The water stands at {{good.level}} m.",
  } as unknown as Schemas["ProcessBody"]);
  const { id } = await person.begin("Water", { processId: process.id });
  await person.say(id, "How high is the water?");
  await person.answered(id, ["Level"]);
  await person.ask(id, "And who counted the herons?");

  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/generations")) asked.push(request.url());
  });
  await page.goto(`${skein.origin}/c/${id}`);
  const answer = turnWith(page, "The water stands at 1.42 m.");
  const calls = answer.getByRole("list", { name: "Tool calls" }).getByRole("listitem");
  await expect(calls).toHaveCount(2);
  await expect(calls.first()).toContainText("Water level");
  await expect(calls.first()).toContainText("completed");
  await expect(calls.nth(1)).toContainText("failed");
  await calls.first().locator("summary").press("Enter");
  await expect(calls.first()).toContainText("today");
  await expect(calls.first()).toContainText("1.42");
  // Built-in context calls and model calls are not listed.
  const plain = page.getByRole("article").last();
  await expect(plain).toContainText(/\d tokens/);
  await expect(plain.getByRole("list", { name: "Tool calls" })).toHaveCount(0);
  await plain.getByRole("link", { name: /tokens/ }).press("Enter");
  await expect(page).toHaveURL(/\/runs\/run_/);
  // All answers in sight were asked about with one question.
  const nodes = asked.map((url) => new URL(url).searchParams.get("nodeIds")?.split(",") ?? []);
  expect(nodes[0]).toHaveLength(2);
  expect(new Set(nodes.flat()).size).toBe(nodes.flat().length);

  await person.findable();
  await page.goto(`${skein.origin}/search?q=${encodeURIComponent("water has:tool")}`);
  await expect(page.locator("a[data-hit]")).toHaveCount(1);
  await expect(page.locator("a[data-hit]")).toContainText("The water stands at 1.42 m.");
  gauge.close();
});

test("an answer names its model; what it thought aloud is folded, and no model is told it", async ({
  page,
  skein,
  model,
  conversation,
}) => {
  const hands = new Mouse(page);
  await page.goto(`${skein.origin}/c/${conversation}`);
  await send(hands, page, "How many herons are there?");
  const first = await model.asked();
  first.think("Two stood in the water, ");
  first.think("two flew off.");
  first.say("Four herons.");
  first.end();
  await answered(page, 2);
  const answer = turnWith(page, "Four herons.");
  await expect(answer.getByTitle(`Model: ${TOLD}`)).toBeVisible();
  await expect(answer).not.toContainText("Two stood in the water");
  const thought = answer.locator("summary", { hasText: "Reasoning" });
  await expect(thought).toContainText(/about \d+ tokens/);
  await thought.press("Enter");
  await expect(answer).toContainText("Two stood in the water, two flew off.");

  await send(hands, page, "And where?");
  const second = await model.asked();
  expect(second.messages.map(({ content }) => content)).toContain("Four herons.");
  expect(JSON.stringify(second.messages)).not.toContain("Two stood in the water");
  second.say("In the reeds.");
  second.end();
  await answered(page, 4);
  await expect(turnWith(page, "In the reeds.").locator("summary", { hasText: "Reasoning" })).toHaveCount(0);
});
